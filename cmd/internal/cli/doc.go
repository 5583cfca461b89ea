// Package cli is what the commands of quarry and of quarry-eval share: the streams,
// the common flags, the settings they stand for, exit codes, and a terminal that
// nothing read from a repository can steer.
package cli
