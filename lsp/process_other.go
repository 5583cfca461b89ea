//go:build !linux

package lsp

import "context"

func awaitProcess(ctx context.Context, pid int) bool { return pollProcess(ctx, pid) }
