/** Amounts are whole cents, so that sums are exact. */
export type Cents = number;

/** Writes an amount for people: 1234 is "12.34 €". */
export function formatCents(cents: Cents): string {
  return `${(cents / 100).toFixed(2)} €`;
}

/** Adds the sales tax of a country, rounded to the cent. */
export function withTax(cents: Cents, rate: number): Cents {
  return Math.round(cents * (1 + rate));
}
