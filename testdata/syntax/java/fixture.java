/* Licence text. */
package com.example.bank;

import java.util.List;
import java.util.*;
import static java.util.Objects.requireNonNull;
import static org.junit.Assert.*;

/**
 * One customer's account.
 *
 * @author someone
 */
@Entity(name = "account")
public class Account<T extends Money> extends Base<T> implements Comparable<Account>, java.io.Closeable {
    /** The most accounts a ledger holds. */
    public static final int MAX_ACCOUNTS = 100;
    private final String owner, alias;
    protected List<Booking> bookings = new ArrayList<>();

    public Account(String owner) {
        super(owner);
        this.owner = requireNonNull(owner);
    }

    // Adds an amount.
    @Override
    @Deprecated
    public <R> R deposit(Money amount, Function<Account, R> f) throws BankException {
        this.bookings.add(new Booking(amount));
        Ledger.instance().notify(owner);
        return f.apply(this);
    }

    static class Builder {
        Account build() { return new Account("x"); }
    }

    enum Direction implements Signed {
        /** Takes out. */
        DEBIT(1),
        CREDIT(-1);

        private final int sign;

        Direction(int sign) { this.sign = sign; }
    }
}

/** Where accounts are kept. */
interface Store extends Readable, Iterable<Account> {
    int LIMIT = 3;
    Account find(String id);
    default int size() { return count(); }
}

record Point(int x, int y) implements Shape {
    Point {
        check(x);
    }
    int sum() { return x + y; }
}

@interface Traced {
    String value() default "";
}
