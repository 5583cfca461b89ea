// Package bank keeps accounts.
package bank

import (
	"context"
	"fmt"

	_ "example.com/driver"
	money "example.com/money/v2"
)

// MaxAccounts bounds a ledger.
const MaxAccounts = 100

const (
	// Debit takes money out.
	Debit Direction = iota
	Credit
)

var registry = map[string]*Account{
	"a": nil,
}

var left, right int

// Direction of a booking.
type Direction int

// Store is where accounts are kept.
type Store interface {
	fmt.Stringer
	Find(ctx context.Context, id string) (*Account, error)
}

type (
	// Account is one customer's.
	Account struct {
		Base
		*money.Wallet
		ID      string // the key
		Balance money.Amount
	}

	Base  struct{ created int64 }
	Alias = Account
)

// Deposit adds an amount.
//
// It never fails.
//
//go:noinline
func (a *Account) Deposit(amount money.Amount) error {
	if amount < 0 {
		return fmt.Errorf("negative %v", amount)
	}
	a.Balance = money.Add(a.Balance, amount)
	notify(a.ID)
	return nil
}

func (Base) empty() {}

// Map applies f to each element.
func Map[T, U any](in []T, f func(T) U) []U {
	out := make([]U, 0, len(in))
	helper := func(v T) U { return f(v) }
	for _, v := range in {
		out = append(out, helper(v))
	}
	return out
}

func (t *Tree[K]) Get(key K) Direction { return Debit }

type Tree[K comparable] struct{ root *node[K] }

func notify(string)
