defmodule Bank.Account do
  @moduledoc """
  One customer's account.
  """

  use GenServer
  import Ecto.Query, only: [from: 2]
  alias Bank.{Ledger, Money}
  alias Bank.Booking, as: Entry
  require Logger

  @behaviour Bank.Store
  @max_accounts 100

  @type t :: %__MODULE__{owner: String.t()}
  @callback find(id :: String.t()) :: t

  defstruct [:owner, balance: 0]

  @doc """
  Adds an amount.
  """
  @spec deposit(t, integer) :: t
  def deposit(%__MODULE__{} = account, amount) when amount > 0 do
    Ledger.book(account, amount)
    account |> check() |> Money.add(amount)
  end

  @doc "Short."
  def owner(account), do: account.owner

  # Checks it.
  defp check(account) do
    Logger.info("x")
    helper(account)
  end

  def reset, do: :ok

  defmacro traced(expr) do
    quote do: unquote(expr)
  end

  defguard is_open(x) when x == :open

  defmodule Inner do
    def run(x), do: x
  end
end

defprotocol Bank.Store do
  @doc "Where accounts are kept."
  def find(store, id)
end

defimpl Bank.Store, for: Bank.Account do
  def find(store, _id), do: Bank.Account.owner(store)
end

defmodule Bank.Closed do
  @enforce_keys [:owner]
  defexception owner: nil, message: "closed"
end
