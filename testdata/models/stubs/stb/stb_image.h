// The part of stb_image's interface that Ollama's multimodal helper names; see
// miniaudio.h beside it. Tests never send images, so every image is refused.
#pragma once
static inline unsigned char *stbi_load_from_memory(const unsigned char *, int, int *, int *, int *, int) { return nullptr; }
static inline void stbi_image_free(void *) {}
