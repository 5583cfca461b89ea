// Command tinygranite writes a generated model of the granite architecture as a
// GGUF file: the one the tests give to a real Ollama.
//
//	go run ./testdata/models/tinygranite -o tiny.gguf
//	printf 'FROM ./tiny.gguf\nPARAMETER num_thread 1\n' > Modelfile
//	ollama create tiny-granite -f Modelfile
package main

import (
	"flag"
	"fmt"
	"os"

	"quarry/model/ollamatest"
)

func main() {
	out := flag.String("o", "tiny-granite.gguf", "the file to write")
	slow := flag.Bool("slow", false, "a larger one, for measuring the key-value cache")
	flag.Parse()
	shape := ollamatest.Tiny
	if *slow {
		shape = ollamatest.Slow
	}
	if err := ollamatest.WriteGranite(*out, shape); err != nil {
		fmt.Fprintln(os.Stderr, "tinygranite:", err)
		os.Exit(1)
	}
}
