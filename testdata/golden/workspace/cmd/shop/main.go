// Command shop prints what is in stock.
package main

import (
	"fmt"

	"shop/inventory"
)

func main() {
	stock := inventory.NewStock()
	stock.Put("apple", 10, 45)
	fmt.Println(inventory.FormatCents(stock.TotalVale()))
}

func printValue(s *inventory.Stock) {
	value := s.TotalValue()
	fmt.Println("in stock:")
}
