// Licence text.
using System;
using System.Collections.Generic;
using static System.Math;
using Json = Newtonsoft.Json.JsonConvert;

namespace Example.Bank
{
    /// <summary>Direction of a booking.</summary>
    public enum Direction { Debit, Credit = 2 }

    public delegate void Changed(object sender);

    /// <summary>
    /// One customer's account.
    /// </summary>
    [Serializable]
    public class Account<T> : Base<T>, IStore, System.IDisposable where T : Money
    {
        public const int MaxAccounts = 100;
        private readonly string owner, alias;
        public event Changed OnChange;
        public string Owner { get; private set; }
        public int Total => bookings.Sum(b => b.Amount);

        public Account(string owner) : base(owner)
        {
            this.owner = owner;
        }

        // Adds an amount.
        [Obsolete("x")]
        public async Task<bool> Deposit(Money amount, Direction d = Direction.Debit)
        {
            bookings.Add(new Booking(amount));
            await Ledger.Instance.Notify(owner);
            int Local(int x) { return Abs(x); }
            return Local(3) > 2;
        }

        public static Account<T> operator +(Account<T> a, Account<T> b) { return a; }
        public int this[int index] { get { return index; } }
        ~Account() { Close(); }

        private struct Inner { public int X; }
    }

    /// <summary>Where accounts are kept.</summary>
    public interface IStore : IEnumerable<int>
    {
        Account<int> Find(string id);
        int Size { get; }
    }

    public record Point(int X, int Y);
    public record struct Pair(int A);

    public struct Cents
    {
        private readonly long[] digits;
        /// <summary>One digit.</summary>
        public long this[int place] => digits[place];
        public static implicit operator long(Cents c) { return c.digits[0]; }
        public static explicit operator Money(Cents c) => new Money(c);
    }
}
