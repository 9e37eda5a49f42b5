/* tp.c - libFuzzer target: the format of a tracepoint and payloads of it, as
 * fields and as text, of both orders and word sizes. The text ends with a 0,
 * behind it is the payload. */
#include <stdlib.h>
#include <string.h>

#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum; /* keeps every read alive */

static void touch_field(const struct field *f)
{
	if (f->present && f->text)
		sum += strlen(f->text);
	for (uint32_t i = 0; f->present && f->blob && i < f->len; i++)
		sum += ((const unsigned char *)f->blob)[i];
}

static void touch_held(const struct rec_sample *s)
{
	for (uint32_t i = 0; i < s->n_held; i++)
		for (uint32_t k = 0; k < s->held[i].n; k++)
			sum += s->held[i].ip[k];
}

static void read_payload(struct tp *tp, const struct tp_format *fmt,
			 const uint8_t *raw, size_t len)
{
	struct field *field = mem_new(fmt->n + 1, sizeof(*field));
	struct rec_sample s = { .event = 0 };
	struct bytes b;
	struct call c;
	char text[256];

	bytes_init(&b, raw, len, "fuzz", 0, tp->swap);
	tp_fields_take(tp, fmt, raw, len, field);
	for (size_t i = 0; i < fmt->n; i++)
		touch_field(&field[i]);
	tp_print(tp, fmt, raw, len, text, sizeof(text));
	if (strlen(text) >= sizeof(text))
		abort();
	sum += strlen(tp_print_problem(tp, fmt));
	tp_stacks_take(tp, fmt, &b, tp->long32, &s);
	touch_held(&s);
	tp_sched_take(fmt, &b, &s.sched);
	tp_call_take(tp, fmt, &b, &c);
	sum += c.path ? strlen(c.path) : 0;
	free(field);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	size_t n = nul ? (size_t)(nul - data) : size;
	size_t rest = nul ? size - n - 1 : 0;
	/* a copy of its own size: tools see a byte too many */
	uint8_t *raw = mem_new(rest ? rest : 1, 1);
	struct arena arena = { 0 };
	struct tp_format fmt;
	struct bytes b;

	if (rest)
		memcpy(raw, nul + 1, rest);
	bytes_init(&b, data, n, "fuzz", 0, false);
	if (tp_format_parse(&arena, n & 1 ? "syscalls" : "sched", &b, &fmt)) {
		for (int i = 0; i < 4; i++) {
			struct tp tp = { .swap = i & 1,
					 .long32 = i & 2,
					 .release = i ? 6018 : 0 };

			read_payload(&tp, &fmt, raw, rest);
			tp_release(&tp);
		}
		tp_format_release(&fmt);
	}
	arena_release(&arena);
	free(raw);
	return 0;
}
