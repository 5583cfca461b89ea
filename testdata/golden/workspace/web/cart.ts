import { Cents, formatCents, withTax } from "./money";

export interface Line {
  sku: string;
  count: number;
  price: Cents;
}

/** The cart of one visitor. */
export class Cart {
  private lines: Line[] = [];

  /** Adds an item; the same item again raises its count. */
  add(sku: string, count: number, price: Cents): void {
    const line = this.lines.find((l) => l.sku === sku);
    if (line) {
      line.count += count;
    } else {
      this.lines.push({ sku, count, price });
    }
  }

  /** The sum before tax. */
  subtotal(): Cents {
    return this.lines.reduce((sum, l) => sum + l.count * l.price, 0);
  }

  /** What the visitor pays. */
  total(rate: number): Cents {
    return 
  }

  /** The total as text. */
  label(rate: number): string {
    return formatCents(this.totl(rate));
  }
}
