package stock;

import java.util.List;

public class Stock {
    private final List<String> names;

    public Stock(List<String> names) {
        this.names = names;
    }

    public int count() {
        return names.size();
    }
}
