package inventory

import "fmt"

// FormatCents writes an amount as the shop prints it: "12.34 EUR".
func FormatCents(cents int64) string {
	return fmt.Sprintf("%d.%02d EUR", cents/100, cents%100)
}
