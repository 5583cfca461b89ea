package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"quarry/lsp/service/client"
)

// A search in one folder, as docs/service.md shows it.
func Example() {
	ctx, socket, dir := context.Background(), "/home/me/.local/state/quarry/serve/socket", "/home/me/src/api"
	c, err := client.Dial(ctx, socket, client.Options{
		Hello:    client.Hello{Client: "my tool", Roots: []string{dir}},
		Progress: func(p client.Progress) { log.Print(p.Title, ": ", p.Message) },
	})
	if errors.Is(err, client.ErrNotRunning) {
		log.Fatal("start quarry serve")
	}
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	answer, err := c.Search(ctx, client.Search{Query: "where are retries counted", K: 5, Current: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range answer.Results {
		fmt.Printf("%s:%d %s\n", r.Path, r.StartLine, r.Symbol)
	}
}
