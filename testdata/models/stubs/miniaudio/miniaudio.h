// The part of miniaudio's interface that Ollama's multimodal helper names.
// The Go module of Ollama leaves this third-party header out; tests never send
// audio, so every decoder here refuses to open.
#pragma once
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

typedef int ma_result;
typedef unsigned int ma_uint32;
typedef unsigned long long ma_uint64;
enum { MA_SUCCESS = 0, MA_ERROR = -1 };
enum ma_format { ma_format_f32 = 5 };
struct ma_decoder_config {};
struct ma_decoder {};

static inline ma_decoder_config ma_decoder_config_init(ma_format, ma_uint32, ma_uint32) { return {}; }
static inline ma_result ma_decoder_init_memory(const void *, size_t, const ma_decoder_config *, ma_decoder *) { return MA_ERROR; }
static inline ma_result ma_decoder_get_length_in_pcm_frames(ma_decoder *, ma_uint64 *) { return MA_ERROR; }
static inline ma_result ma_decoder_read_pcm_frames(ma_decoder *, void *, ma_uint64, ma_uint64 *) { return MA_ERROR; }
static inline ma_result ma_decoder_uninit(ma_decoder *) { return MA_SUCCESS; }
