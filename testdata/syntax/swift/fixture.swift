import Foundation
import struct Money.Amount
@testable import Ledger

/// The most accounts a ledger holds.
let maxAccounts = 100
private var counter: Int = 0

typealias Handler = (Account) -> Void

/// Where accounts are kept.
protocol Store: Readable, Closeable {
    associatedtype Key
    var size: Int { get }
    func find(id: String) -> Account?
}

/// One customer's account.
///
/// Kept in a ledger.
@objc
public final class Account: Base<Amount>, Comparable {
    public let owner: String
    private(set) var balance: Amount = .zero
    var total: Int { return bookings.count }

    public init(owner: String) {
        super.init()
        self.owner = owner
    }

    deinit { close() }

    // Adds an amount.
    @discardableResult
    func deposit(_ amount: Amount, to ledger: Ledger) async throws -> Bool {
        ledger.bookings.append(Booking(amount: amount))
        func local() -> Int { check(amount) }
        return try await notify(owner)
    }

    static func parse(_ text: String) -> Account { Account(owner: text) }

    subscript(index: Int) -> Int { index }
}

struct Point: Hashable {
    var x, y: Double
    func length() -> Double { sqrt(x * x + y * y) }
}

enum Direction: String, CaseIterable {
    case debit, credit
    case other(Int)

    var sign: Int { 1 }
}

extension Account: Store {
    func find(id: String) -> Account? { nil }
}

actor Registry {}

func transfer<T: Store>(from: T, to: Account) {
    to.deposit(Amount(3), to: Ledger.shared)
    from.find(id: "x")?.owner.lowercased()
}

final class Handle {
    deinit { close() }

    static func == (left: Handle, right: Handle) -> Bool { same(left, right) }
}

// Adds two points.
func + (left: Point, right: Point) -> Point { Point(x: sum(left.x, right.x), y: 0) }
