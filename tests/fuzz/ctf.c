/* ctf.c - libFuzzer target: what is read of a CTF trace before the library
 * sees it: metadata, then a stream file, with a 0xff between them. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
	size_t n = cut ? (size_t)(cut - data) : size;
	struct arena arena = { 0 };
	struct ctf_meta meta;
	struct ctf_chain ch;
	uint64_t at = 0;

	ctf_meta_read(&arena, data, n, &meta);
	if (cut) {
		uint64_t len = size - n - 1;

		ctf_chain_read(&meta, cut + 1, len, &ch);
		for (size_t i = 0; ch.known && i < ch.n; i++) {
			if (ch.part[i].off != at || !ch.part[i].len)
				abort();
			at += ch.part[i].len;
		}
		if (ch.known && at != len)
			abort();
		ctf_chain_release(&ch);
	}
	arena_release(&arena);
	return 0;
}
