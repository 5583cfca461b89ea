# frozen_string_literal: true

require 'json'
require_relative "lib/ledger"

# Accounts and their ledger.
module Bank
  # The most accounts a ledger holds.
  MAX_ACCOUNTS = 100

  class NotFound < StandardError; end

  # One customer's account.
  #
  # Kept in a ledger.
  class Account < Models::Base
    include Comparable
    extend Forwardable
    attr_reader :owner, :balance
    attr_accessor :limit

    STATES = %w[open closed].freeze

    # Creates one.
    def initialize(owner, balance = 0)
      super()
      @owner = owner
      notify(owner)
    end

    def self.parse(text)
      new(JSON.parse(text)["owner"])
    end

    class << self
      def build(*args) = Account.new(*args)
    end

    # Adds an amount.
    def deposit!(amount)
      @balance += Money.new(amount)
      ledger.bookings.each { |b| b.check }
      yield self if block_given?
    end

    def <=>(other)
      balance <=> other.balance
    end

    private

    def secret?; true; end
    alias_method :hidden?, :secret?
  end
end

def main
  account = Bank::Account.parse("x")
  account.deposit! 3
end

main

class Vault
  # Opens it.
  private def open(key)
    turn(key)
  end

  if ENV["DEBUG"]
    def inspect = "open"
  end

  private_class_method def self.keys
    load_keys
  end
end

# A place on the map.
Point = Struct.new(:x, :y) do
  def far?; distance > 3; end
end
