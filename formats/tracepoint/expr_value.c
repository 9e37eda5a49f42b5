/* expr_value.c - the elements of arrays that expressions come to. */
#include "formats/tracepoint/expr_value.h"

#include "stitch/base/bytes.h"

uint64_t expr_element(const struct expr_machine *on, const struct expr_value *v,
		      uint32_t elem, uint64_t i, bool *ok)
{
	struct bytes b;
	uint8_t u8 = 0;
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	uint64_t u64 = 0;

	/* the final 0 of a text is an element too */
	*ok = v->blob && elem && i < v->len / elem;
	if (!*ok) {
		*ok = v->kind == EXPR_TEXT && elem == 1 && i == v->len;
		return 0;
	}
	bytes_init(&b, v->blob + i * elem, elem, "", 0, on->swap);
	switch (elem) {
	case 1:
		bytes_u8(&b, &u8, NULL);
		return u8;
	case 2:
		bytes_u16(&b, &u16, NULL);
		return u16;
	case 4:
		bytes_u32(&b, &u32, NULL);
		return u32;
	case 8:
		bytes_u64(&b, &u64, NULL);
		return u64;
	default:
		*ok = false;
		return 0;
	}
}
