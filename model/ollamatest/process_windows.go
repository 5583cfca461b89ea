package ollamatest

import (
	"errors"
	"io"
)

type process struct{}

func startProcess(string, []string, io.Writer) (*process, error) {
	return nil, errors.New("the real Ollama is run through a Unix shell")
}

func (*process) kill() {}
