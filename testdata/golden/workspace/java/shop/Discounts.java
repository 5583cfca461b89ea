package shop;

/** Discounts that depend on what an order costs. */
public final class Discounts {
    private Discounts() {}

    /** Ten percent off from 100 euros on. */
    public static long afterDiscount(long cents) {
        return cents >= 10_000 ? cents - cents / 10 : cents;
    }

    static long price(Order order) {
        return afterDiscount(order.total());
    }
}
