package shop;

import java.util.ArrayList;
import java.util.List;

/** An order with its lines. */
public class Order {
    private final String id;
    private final List<Line> lines = new ArrayList<>();
    private boolean shipped;

    public Order(String id) {
        this.id = id;
    }

    public String id() {
        return id;
    }

    public void add(String sku, int count, long cents) {
        lines.add(new Line(sku, count, cents));
    }

    /** The sum of all lines in cents. */
    public long totalCents() {
        long sum = 0;
        for (Line line : lines) {
            sum += line.count() * line.cents();
        }
        return sum;
    }

    /** Marks the order as sent; a second time is a mistake of the caller. */
    public void ship() {
        if (shipped) {
            throw new IllegalStateException("order " + id + " was shipped before");
        }
        shipped = true;
    }

    record Line(String sku, int count, long cents) {}
}
