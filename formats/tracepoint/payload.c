/* payload.c - makes the text of a tracepoint's payload without its capture. */
#include "formats/tracepoint/payload.h"

#include <stdlib.h>
#include <string.h>

#include "formats/tracepoint/kernel_names.h"

struct payload *payload_new(const char *format,
			    const struct payload_machine *on)
{
	struct payload *pl = mem_new(1, sizeof(*pl));
	struct bytes text;

	pl->tp.swap = bytes_must_swap(on->big);
	pl->tp.long32 = on->long32;
	pl->tp.release = on->release ? kernel_release_number(on->release) : 0;
	bytes_init(&text, format, strlen(format), "format", 0, false);
	if (tp_format_parse(&pl->arena, "", &text, &pl->fmt))
		return pl;
	payload_free(pl);
	return NULL;
}

void payload_free(struct payload *pl)
{
	if (!pl)
		return;
	tp_format_release(&pl->fmt);
	tp_release(&pl->tp);
	arena_release(&pl->arena);
	free(pl);
}
