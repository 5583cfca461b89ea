//! Accounts and their ledger.
const std = @import("std");
const Money = @import("money.zig").Money;

/// The most accounts a ledger holds.
pub const max_accounts: usize = 100;
var counter: u32 = 0;

/// One customer's account.
pub const Account = struct {
    owner: []const u8,
    balance: Money = .{},

    /// Creates one.
    pub fn init(owner: []const u8) Account {
        return .{ .owner = owner };
    }

    fn deposit(
        self: *Account,
        amount: Money,
    ) !void {
        const total = self.balance.add(amount);
        if (total.isNegative()) {
            return error.Negative;
        }
        self.balance = total;
    }
};

pub const Direction = enum(u8) {
    debit,
    credit,
};

const Header = packed struct { a: u8 };

pub const Error = error{ NotFound, Closed };

pub inline fn transfer(from: *Account, to: *Account) void {
    _ = from;
    _ = to;
}

test "transfer keeps the sum" {
    try std.testing.expect(true);
}
