/* expr_value.c - the elements of arrays that expressions come to. */
#include "formats/tracepoint/expr_value.h"

#include "formats/tracepoint/fields.h"

uint64_t expr_element(const struct expr_machine *on, const struct expr_value *v,
		      uint32_t elem, uint64_t i, bool *ok)
{
	const struct tp_field as = { .kind = FMT_NUM, .size = elem };
	struct bytes b;
	int64_t num = 0;

	/* the final 0 of a text is an element too */
	if (!v->blob || !elem || elem > 8 || i >= v->len / elem) {
		*ok = v->kind == EXPR_TEXT && elem == 1 && i == v->len;
		return 0;
	}
	bytes_init(&b, v->blob + i * elem, elem, "", 0, on->swap);
	*ok = tp_field_number(&b, &as, &num);
	return (uint64_t)num;
}
