/* dwarf_scopes.c - what a function of C++ without a linkage name is in.
 *
 * libdw does not tell the parent of a DIE: the way from the unit down to it is
 * searched by offsets, which takes a step for each sibling before it, once for
 * each function of a unit. */
#include "symbolize/dwarf/dwarf_scopes.h"

#include <dwarf.h>
#include <stdbool.h>

#include "stitch/base/mem.h"
#include "symbolize/dwarf/dwarf_sections.h"

/* Debug information nests some ten levels. */
#define SCOPES_MAX 64
#define ORIGINS_MAX 8
/* A unit of a large program has a million DIEs, of which most are skipped. */
#define STEPS_MAX 20000000

static bool scopes_may_step(struct dwarf_scopes *s)
{
	return s->steps++ < STEPS_MAX;
}

/* Replaces a DIE by the one that declares it. */
static void scopes_origin(Dwarf_Die *die)
{
	for (int i = 0; i < ORIGINS_MAX; i++) {
		Dwarf_Attribute a;
		Dwarf_Die to;

		if ((!dwarf_attr(die, DW_AT_abstract_origin, &a) &&
		     !dwarf_attr(die, DW_AT_specification, &a)) ||
		    !dwarf_formref_die(&a, &to))
			return;
		*die = to;
	}
}

static const char *scopes_string(Dwarf_Die *die, unsigned int name)
{
	const char *s = dwarf_sections_text(die, name);

	return s && *s ? s : NULL;
}

/* Finds what a DIE is in, outermost first. Returns how many there are, 0 if it
 * was not found. */
static size_t scopes_around(struct dwarf_scopes *s, Dwarf_Die *die,
			    Dwarf_Die around[SCOPES_MAX])
{
	Dwarf_Off off = dwarf_dieoffset(die);
	Dwarf_Die at, child;
	size_t n = 0;

	if (!dwarf_diecu(die, &at, NULL, NULL))
		return 0;
	while (n < SCOPES_MAX && !dwarf_child(&at, &child)) {
		bool any = false;

		do {
			if (dwarf_dieoffset(&child) > off)
				break;
			at = child;
			any = true;
		} while (scopes_may_step(s) &&
			 !dwarf_siblingof(&child, &child));
		if (!any || s->steps > STEPS_MAX)
			return 0;
		if (dwarf_dieoffset(&at) == off)
			return n;
		around[n++] = at;
	}
	return 0;
}

/* Returns whether a DIE is the class of a lambda. */
static bool scopes_is_lambda(struct dwarf_scopes *s, Dwarf_Die *die)
{
	unsigned int tag = (unsigned int)dwarf_tag(die);
	Dwarf_Die child;

	if ((tag != DW_TAG_structure_type && tag != DW_TAG_class_type) ||
	    scopes_string(die, DW_AT_name) || dwarf_child(die, &child))
		return false;
	do {
		const char *name = scopes_string(&child, DW_AT_name);

		if (dwarf_tag(&child) == DW_TAG_subprogram && name &&
		    !strcmp(name, "operator()"))
			return true;
	} while (scopes_may_step(s) && !dwarf_siblingof(&child, &child));
	return false;
}

/* Where a lambda is in the source. */
struct scopes_place {
	Dwarf_Word file, line, column;
};

static struct scopes_place scopes_place_of(Dwarf_Die *die)
{
	static const unsigned int attr[] = { DW_AT_decl_file, DW_AT_decl_line,
					     DW_AT_decl_column };
	Dwarf_Word v[ARRAY_SIZE(attr)];

	for (size_t i = 0; i < ARRAY_SIZE(attr); i++) {
		Dwarf_Attribute a;

		if (dwarf_formudata(dwarf_attr(die, attr[i], &a), &v[i]))
			v[i] = 0;
	}
	return (struct scopes_place){ v[0], v[1], v[2] };
}

/* Counts the lambdas in a function, class or namespace before a place. */
static unsigned int scopes_lambdas_before(struct dwarf_scopes *s,
					  Dwarf_Die *parent,
					  const struct scopes_place *place,
					  unsigned int depth)
{
	unsigned int n = 0;
	Dwarf_Die die;

	if (depth > SCOPES_MAX || dwarf_child(parent, &die))
		return 0;
	do {
		if (dwarf_tag(&die) == DW_TAG_lexical_block) {
			n += scopes_lambdas_before(s, &die, place, depth + 1);
			continue;
		}
		if (!scopes_is_lambda(s, &die))
			continue;
		struct scopes_place at = scopes_place_of(&die);
		n += at.file == place->file &&
		     (at.line < place->line ||
		      (at.line == place->line && at.column < place->column));
	} while (scopes_may_step(s) && !dwarf_siblingof(&die, &die));
	return n;
}

/* Writes "lambda#2::". */
static void scopes_put_lambda(struct dwarf_scopes *s, FILE *out,
			      Dwarf_Die *around, size_t i)
{
	struct scopes_place place = scopes_place_of(&around[i]);
	Dwarf_Die parent;

	if (!dwarf_diecu(&around[i], &parent, NULL, NULL))
		return;
	while (i && dwarf_tag(&around[i - 1]) == DW_TAG_lexical_block)
		i--;
	if (i)
		parent = around[i - 1];
	fprintf(out, "lambda#%u::",
		1 + scopes_lambdas_before(s, &parent, &place, 0));
}

/* Writes "NAME::" of around[i]. */
static void scopes_put(struct dwarf_scopes *s, FILE *out, Dwarf_Die *around,
		       size_t i)
{
	const char *name = scopes_string(&around[i], DW_AT_name);

	switch (dwarf_tag(&around[i])) {
	case DW_TAG_namespace:
		fprintf(out, "%s::", name ? name : "(anonymous namespace)");
		return;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
		if (name)
			fprintf(out, "%s::", name);
		else if (scopes_is_lambda(s, &around[i]))
			scopes_put_lambda(s, out, around, i);
		return;
	default:
		return;
	}
}

/* Writes what a DIE that declares something is in, outermost first. A function
 * around it is mostly defined outside of its class and namespace: what the
 * declaration of the innermost one of these is in takes the place of what is
 * around the definition. */
static void scopes_put_all(struct dwarf_scopes *s, FILE *out, Dwarf_Die *die,
			   unsigned int depth)
{
	Dwarf_Die around[SCOPES_MAX];
	size_t n = scopes_around(s, die, around);
	size_t left = 0; /* in around[], the first that is not written yet */

	for (size_t i = n; i-- > 0 && !left && depth < ORIGINS_MAX;) {
		Dwarf_Die declared = around[i];

		if (dwarf_tag(&declared) != DW_TAG_subprogram)
			continue;
		scopes_origin(&declared);
		if (declared.addr == around[i].addr)
			continue;
		scopes_put_all(s, out, &declared, depth + 1);
		scopes_put(s, out, &declared, 0);
		left = i + 1;
	}
	for (; left < n; left++)
		scopes_put(s, out, around, left);
}

static bool scopes_is_cxx(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* DW_LANG_C_plus_plus_20, DWARF 6 */
		return true;
	default:
		return false;
	}
}

/* Returns the name, to be freed, or NULL. */
static char *scopes_make(struct dwarf_scopes *s, Dwarf_Die *die)
{
	const char *name = scopes_string(die, DW_AT_name);
	size_t len, before;
	char *text;
	FILE *out;

	if (!name || !scopes_is_cxx(die))
		return NULL;
	out = mem_stream(&text, &len);
	scopes_put_all(s, out, die, 0);
	fflush(out);
	before = len;
	fputs(name, out);
	mem_stream_end(out);
	if (before)
		return text;
	free(text);
	return NULL;
}

const char *dwarf_scopes_name(struct dwarf_scopes *s, Dwarf_Die *function)
{
	Dwarf_Attribute a;
	Dwarf_Die die = *function;

	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &a))
		return NULL;
	scopes_origin(&die);
	uint32_t id = table_find_or_add(&s->known,
					hash_u64((uintptr_t)die.addr), s->n);

	if (id == s->n) {
		char *name = scopes_make(s, &die);

		*mem_add(s->name, s->n, s->cap) = name;
	}
	return s->name[id];
}

void dwarf_scopes_release(struct dwarf_scopes *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->name[i]);
	free(s->name);
	table_release(&s->known);
	/* all units of a file share the steps */
	*s = (struct dwarf_scopes){ .steps = s->steps };
}
