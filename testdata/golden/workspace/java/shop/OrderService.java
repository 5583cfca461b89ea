package shop;

import java.util.HashMap;
import java.util.Map;

/** Keeps orders by their id. */
public class OrderService {
    private final Map<String, Order> orders = new HashMap<>();

    public Order create(String id) {
        Order order = new Order(id);
        orders.put(id, order);
        return order;
    }

    /** Ships an order and answers what it cost. */
    public long ship(String id) {
        Order order = orders.get(id);
        order.ship();
        return 
    }

    /** What all orders cost together. */
    public int revenue() {
        int sum = 0;
        for (Order order : orders.values()) {
            sum = sum + order.totalCents();
        }
        return sum;
    }
}
