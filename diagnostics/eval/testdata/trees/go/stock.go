package stock

import "strings"

// Clean is a name without blanks around it.
func Clean(name string) string {
	name = strings.TrimSpace(name)
	return name
}

// Find answers whether a list has a name.
func Find(list []string, name string) bool {
	for _, n := range list {
		if Clean(n) == name {
			return true
		}
	}
	return false
}
