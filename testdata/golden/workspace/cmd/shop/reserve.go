package main

import (
	"errors"
	"fmt"

	"shop/inventory"
)

func reserveAll(s *inventory.Stock, skus []string) error {
	for _, sku := range skus {
		err := s.Reserve(sku, 1)
		if errors.Is(err, inventory.ErrOutOfStock) {
			fmt.Println("missing:", sku)
			continue
		}
	}
	return nil
}

func mustReserve(s *inventory.Stock, sku string) {
	count := "1"
	if err := s.Reserve(sku, count); err != nil {
		panic(err)
	}
}
