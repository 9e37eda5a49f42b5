/* program.c - compiles class trees into steps.
 *
 * While it adds steps, the position is known modulo some power of two. So most
 * alignments cost nothing, and adjacent fields of fixed size that are not
 * needed become one distance, which the next step skips. */
#include "formats/ctf/decode/program.h"

#include "formats/ctf/decode/cursor.h"
#include "formats/ctf/meta/tree.h"
#include "stitch/base/mem.h"

#define PRE_MAX (1u << 30)

bool ctf_node_is_integer(const struct ctf_node *node)
{
	return node->kind == CTF_UINT || node->kind == CTF_SINT ||
	       node->kind == CTF_VAR_UINT || node->kind == CTF_VAR_SINT;
}

bool ctf_node_is_number(const struct ctf_node *node)
{
	return ctf_node_is_integer(node) || node->kind == CTF_BITS ||
	       node->kind == CTF_BITMAP || node->kind == CTF_BOOL;
}

bool ctf_node_is_signed(const struct ctf_node *node)
{
	return node->kind == CTF_SINT || node->kind == CTF_VAR_SINT;
}

bool ctf_node_is_string(const struct ctf_node *node)
{
	return node->kind == CTF_STRING || node->kind == CTF_FIXED_STRING ||
	       node->kind == CTF_LENGTH_STRING;
}

const struct ctf_node *ctf_node_element(const struct ctf_node *node)
{
	return node->kind == CTF_ARRAY || node->kind == CTF_SEQUENCE
		       ? node->child
		       : NULL;
}

bool ctf_node_is_bytes(const struct ctf_node *node)
{
	const struct ctf_node *e = ctf_node_element(node);

	if (node->kind == CTF_FIXED_BLOB || node->kind == CTF_LENGTH_BLOB)
		return true;
	return e && (e->kind == CTF_UINT || e->kind == CTF_SINT) &&
	       e->bits <= 8 && !e->n_label;
}

static void ctf_program_forget(struct ctf_program *p, uint32_t mod)
{
	lower_to(p->mod, mod);
	p->at %= p->mod;
}

static struct ctf_op *ctf_program_op(struct ctf_program *p, enum ctf_code code,
				     const struct ctf_node *node)
{
	struct ctf_op *op = mem_add(p->op, p->n, p->cap);

	*op = (struct ctf_op){
		.code = (uint8_t)code,
		.pre = p->pre,
		.mask = p->mask,
		.node = node,
	};
	p->pre = p->mask = 0;
	return op;
}

static void ctf_program_flush(struct ctf_program *p)
{
	if (p->pre || p->mask)
		ctf_program_op(p, CTF_OP_NOP, NULL);
}

static void ctf_program_move(struct ctf_program *p, uint32_t bits)
{
	/* flush: a step moves first and then aligns */
	if (p->mask || p->pre > PRE_MAX)
		ctf_program_flush(p);
	p->pre += bits;
	p->at = (uint32_t)(((uint64_t)p->at + bits) % p->mod);
}

void ctf_program_align(struct ctf_program *p, uint32_t align)
{
	if (align <= 1)
		return;
	if (align <= p->mod) {
		uint32_t over = p->at % align;

		if (over)
			ctf_program_move(p, align - over);
		return;
	}
	if (p->mask && p->mask + 1 < align)
		ctf_program_flush(p);
	p->mask = align - 1;
	p->mod = align;
	p->at = 0;
}

static bool ctf_program_has_effect(const struct ctf_node *node)
{
	return node->slot || node->role != CTF_NO_ROLE;
}

/* Returns whether the class has a fixed size and no effect, and sets *bits to
 * the size. */
static bool ctf_program_is_dull(const struct ctf_node *node, uint64_t *bits)
{
	const struct ctf_node *e = ctf_node_element(node);
	uint64_t one;

	if (ctf_program_has_effect(node) || node->from)
		return false;
	if (node->kind <= CTF_REAL) {
		*bits = node->bits;
		return true;
	}
	if (node->kind == CTF_FIXED_STRING || node->kind == CTF_FIXED_BLOB)
		return !__builtin_mul_overflow(node->count, 8, bits);
	if (node->kind != CTF_ARRAY || !ctf_program_is_dull(e, &one))
		return false;
	return e->align && one % e->align == 0 &&
	       !__builtin_mul_overflow(node->count, one, bits);
}

static void ctf_program_walk(struct ctf_program *p, const struct ctf_node *node)
{
	ctf_program_op(p, CTF_OP_WALK, node);
	ctf_program_forget(p, 1);
}

void ctf_program_skip(struct ctf_program *p, const struct ctf_node *node)
{
	uint64_t bits;

	if (!node)
		return;
	if (node->kind == CTF_VARIANT || node->kind == CTF_OPTIONAL) {
		/* Each option has its own steps. After them, only what holds
		 * for the positions of all options is known. */
		uint32_t base = (uint32_t)p->n_jump;
		uint32_t n = node->n_child;
		uint32_t *out OWNED = mem_new(n + 1, sizeof(*out));

		ctf_program_op(p, CTF_OP_SELECT, node)->n = base;
		for (uint32_t i = 0; i <= n; i++)
			*mem_add(p->jump, p->n_jump, p->cap_jump) = 0;
		const uint32_t mod_in = p->mod;
		const uint32_t at_in = p->at;
		uint32_t mod = mod_in;
		uint32_t at = at_in;

		for (uint32_t i = 0; i < n; i++) {
			p->mod = mod_in;
			p->at = at_in;
			p->jump[base + i] = (uint32_t)p->n;
			ctf_program_skip(p, &node->child[i]);
			out[i] = (uint32_t)p->n;
			ctf_program_op(p, CTF_OP_JUMP, NULL);
			if (!i && node->kind == CTF_VARIANT) {
				mod = p->mod;
				at = p->at;
			}
			lower_to(mod, p->mod);
			while (p->at % mod != at % mod)
				mod /= 2;
		}
		for (uint32_t i = 0; i < n; i++)
			p->op[out[i]].n = (uint32_t)p->n;
		p->jump[base + n] = (uint32_t)p->n;
		p->mod = mod;
		p->at = at % mod;
		return;
	}
	ctf_program_align(p, node->align);
	if (node->role == CTF_UUID_FIELD) {
		ctf_program_op(p, CTF_OP_UUID, node);
		ctf_program_move(p, 0);
		ctf_program_forget(p, 8);
	} else if (node->kind == CTF_STRUCT) {
		for (uint32_t i = 0; i < node->n_child; i++)
			ctf_program_skip(p, &node->child[i]);
	} else if (ctf_program_is_dull(node, &bits) && bits < PRE_MAX) {
		ctf_program_move(p, (uint32_t)bits);
	} else if (ctf_node_is_number(node)) {
		ctf_program_op(p,
			       node->kind == CTF_UINT && !node->reverse
				       ? CTF_OP_MARK
				       : CTF_OP_NUM,
			       node)
			->want.label = CTF_NO_PLACE;
		if (node->kind == CTF_VAR_UINT || node->kind == CTF_VAR_SINT)
			ctf_program_forget(p, 8);
		else
			p->at = (p->at + node->bits) % p->mod;
	} else if (node->kind == CTF_STRING) {
		ctf_program_op(p, CTF_OP_SKIP_TEXT, node);
		ctf_program_forget(p, 8);
	} else if (node->kind == CTF_LENGTH_STRING ||
		   node->kind == CTF_LENGTH_BLOB ||
		   node->kind == CTF_SEQUENCE) {
		const struct ctf_node *e = ctf_node_element(node);
		uint64_t each = 8;

		if (e && (!ctf_program_is_dull(e, &each) || !e->align ||
			  each % e->align || each > PRE_MAX || !each)) {
			ctf_program_walk(p, node);
			return;
		}
		ctf_program_op(p, CTF_OP_SKIP_MANY, node)->n = (uint32_t)each;
		ctf_program_forget(p, each % 8 ? 1 : 8);
	} else {
		ctf_program_walk(p, node);
	}
}

/* Returns whether the field is a number of whole bytes without effects. */
static bool ctf_program_is_whole(const struct ctf_node *node)
{
	return !ctf_program_has_effect(node) && !node->reverse &&
	       (node->kind == CTF_UINT || node->kind == CTF_SINT) &&
	       (node->bits == 8 || node->bits == 16 || node->bits == 32 ||
		node->bits == 64);
}

/* Returns the step for a number at a whole byte that has no other purpose than
 * w. */
static enum ctf_code ctf_program_code(const struct ctf_program *p,
				      const struct ctf_node *node,
				      const struct ctf_want *w)
{
	static const uint8_t copy[9] = {
		[1] = CTF_OP_U8,
		[2] = CTF_OP_U16,
		[4] = CTF_OP_U32,
		[8] = CTF_OP_U64,
	};

	if (!ctf_program_is_whole(node) || w->label != CTF_NO_PLACE ||
	    p->mod < 8 || p->at % 8)
		return CTF_OP_NUM;
	if (!w->use)
		return (enum ctf_code)copy[w->size];
	return node->bits == 64	  ? CTF_OP_USE64
	       : node->bits == 32 ? CTF_OP_USE32
				  : CTF_OP_USE;
}

void ctf_program_add(struct ctf_program *p, const struct ctf_node *node,
		     const struct ctf_want *w)
{
	enum ctf_code code = w->how == CTF_TEXT	   ? CTF_OP_TEXT
			     : w->how == CTF_BYTES ? CTF_OP_BYTES
						   : CTF_OP_JSON;

	if (w->how == CTF_DROP && !w->use) {
		ctf_program_skip(p, node);
		return;
	}
	if (node->kind != CTF_VARIANT && node->kind != CTF_OPTIONAL)
		ctf_program_align(p, node->align);
	if (ctf_node_is_number(node)) {
		struct ctf_op *op =
			ctf_program_op(p, ctf_program_code(p, node, w), node);

		p->dynamic |= w->label != CTF_NO_PLACE;
		op->want = *w;
		op->swap = !ctf_cursor_is_native(node->big);
		if (node->kind == CTF_SINT && node->bits < 64)
			op->n = 64 - node->bits;
		if (node->kind == CTF_VAR_UINT || node->kind == CTF_VAR_SINT)
			ctf_program_forget(p, 8);
		else
			p->at = (p->at + node->bits) % p->mod;
		return;
	}
	if (w->use == CTF_PROCNAME)
		code = CTF_OP_NAME;
	else if (w->use) {
		const struct ctf_node *e = ctf_node_element(node);

		code = e && ctf_program_is_whole(e) && e->bits == 64 &&
				       e->align <= 64 && p->mod >= 8 &&
				       p->at % 8 == 0
			       ? CTF_OP_WORDS
			       : CTF_OP_STACK;
	} else
		p->dynamic = true;
	struct ctf_op *op = ctf_program_op(p, code, node);

	op->want = *w;
	if (code == CTF_OP_NAME && node->kind == CTF_FIXED_STRING &&
	    node->encoding == CTF_UTF8 && node->count < PRE_MAX) {
		op->code = CTF_OP_NAME_HERE;
		op->n = (uint32_t)node->count;
	}
	ctf_program_forget(p, ctf_node_is_string(node) ? 8 : 1);
}

void ctf_program_start(struct ctf_program *p)
{
	*p = (struct ctf_program){ .mod = 1 };
}

void ctf_program_end(struct ctf_program *p)
{
	ctf_program_op(p, CTF_OP_END, NULL);
}

/* Returns whether the field is a number that ctf_run_header() can read in one
 * word with others. */
static bool ctf_program_is_plain(const struct ctf_node *node, uint32_t at)
{
	return node->kind == CTF_UINT && !node->reverse && !node->big &&
	       node->align <= 8 && at % node->align == 0;
}

/* Sets p->brief if the header is a number and a variant that it selects, whose
 * first option is a structure of one number. LTTng's event headers are such: an
 * id of 5 or 16 bits and 27 or 32 bits of the clock; events with larger ids or
 * times have the other option, for which ctf_run_header() runs the program. */
void ctf_program_header(struct ctf_program *p, const struct ctf_node *header)
{
	ctf_program_start(p);
	ctf_program_skip(p, header);
	ctf_program_end(p);
	/* it begins with a whole byte */
	if (!header || header->kind != CTF_STRUCT || header->n_child != 2 ||
	    header->align < 8 || !ctf_cursor_is_native(false))
		return;
	const struct ctf_node *id = &header->child[0];
	const struct ctf_node *rest = &header->child[1];

	if (!ctf_program_is_plain(id, 0) || !id->slot ||
	    id->role != CTF_EVENT_CLASS_ID || rest->kind != CTF_VARIANT ||
	    rest->from != id->slot || rest->sel_signed || !rest->n_child)
		return;
	const struct ctf_node *first = &rest->child[0];
	const struct ctf_node *time = first->child;
	const struct ctf_label *usual = rest->choice;

	if (first->kind != CTF_STRUCT || first->n_child != 1 ||
	    first->align > 8 || id->bits % first->align ||
	    !ctf_program_is_plain(time, id->bits) ||
	    id->bits + time->bits > 64 || time->role != CTF_CLOCK ||
	    time->slot || time->clock < 0 || usual->n_range != 1)
		return;
	p->brief = (struct ctf_brief_header){
		.id_bits = id->bits,
		.bits = id->bits + time->bits,
		.mask = header->align - 1,
		.lo = usual->range->lo,
		.hi = usual->range->hi,
		.slot = id->slot,
		.clock = time->clock,
	};
}

void ctf_program_release(struct ctf_program *p)
{
	free_all(p->op, p->jump);
	*p = (struct ctf_program){ 0 };
}
