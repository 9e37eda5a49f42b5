/* short_name.c - libFuzzer target: the short form of any bytes as a name. The
 * first byte says what is kept. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names/short_name.h"
#include "stitch/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!len)
		return 0;

	char *name = mem_new(len, 1);
	char *out;

	memcpy(name, data + 1, len - 1);
	out = mem_new(strlen(name) + 1, 1);
	short_name(name, data[0] & SHORT_KEEP_ALL, out);
	assert(strlen(out) <= strlen(name));
	assert(!*out == !*name);
	free(out);
	free(name);
	return 0;
}
