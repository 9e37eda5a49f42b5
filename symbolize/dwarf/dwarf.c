/* dwarf.c - finds source lines and inlined functions of addresses in DWARF, and
 * the scope of a C++ function without a linkage name.
 *
 * The file's address index is not used: many files lack it, and reading it
 * costs more than reading the ranges of all units. Looking up single addresses
 * with dwarf_getscopes() would walk a unit for each (40 us in libc). */
#include "symbolize/dwarf/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <time.h>

#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "symbolize/dwarf/dwarf_sections.h"
#include "symbolize/dwarf/dwarf_units.h"
#include "symbolize/dwarf/line_table.h"
#include "symbolize/dwarf/split_dwarf.h"
#include "symbolize/elf/elf.h"

/* ---- scopes of C++ functions. gcc writes no linkage names for lambdas,
 * functions of unnamed namespaces, and instances of templates for one of these;
 * clang does. */

/* libdw has no way from a DIE to its parent: the path from the unit down to it
 * is searched by offsets, once for each function of a unit, in one step for
 * each sibling before it. */

/* All zeros is empty. */
struct dwarf_scopes {
	struct table known; /* offset in .debug_info -> index in name[] */
	char **name;	    /* NULL: the function has no scope */
	size_t n, cap;
	size_t steps; /* DIEs that were looked at */
};

/* Debug information nests some ten levels. */
#define SCOPES_MAX 64
#define ORIGINS_MAX 8
/* A unit of a large program has a million DIEs, most of which are skipped. */
#define STEPS_MAX 20000000

static bool scopes_may_step(struct dwarf_scopes *s)
{
	return s->steps++ < STEPS_MAX;
}

/* Replaces a DIE by the DIE that declares it. */
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

/* Finds the DIEs around a DIE, outermost first. Returns how many there are, 0
 * if it was not found. */
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

/* The position of a lambda in the source. */
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

/* Writes the scopes of a declaring DIE, outermost first. A function among them
 * is mostly defined outside of its class and namespace: the scopes of the
 * innermost declaration replace those of its definition. */
static void scopes_put_all(struct dwarf_scopes *s, FILE *out, Dwarf_Die *die,
			   unsigned int depth)
{
	Dwarf_Die around[SCOPES_MAX];
	size_t n = scopes_around(s, die, around);
	size_t left =
		0; /* the first scope in around[] that is not written yet */

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

/* Returns the name, for the caller to free, or NULL. */
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

/* Returns the name of a function with its scopes, "main::lambda#2::
 * operator()". Returns NULL if it has a linkage name, is of another language or
 * has no scope with a name, or if the search in a hostile file takes too long.
 * Valid until dwarf_look_unit() returns. Lambdas are numbered by line and
 * column within a function. */
static const char *dwarf_scopes_name(struct dwarf_scopes *s,
				     Dwarf_Die *function)
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

/* Debug information nests some ten levels; a hostile file any number. */
#define DEPTH_MAX 256
/* Limits processor time, as what is found must not depend on the load of the
 * machine. A hostile file can make libdw read one section for each byte of
 * another. Real files take a second per 500 MB. */
#define SECONDS_MAX 20
#define LOOKS_PER_CLOCK 16
#define NONE UINT32_MAX

struct dwarf_want {
	uint64_t vaddr;
	uint32_t index; /* index in the caller's array */
	uint32_t node;	/* innermost function inlined here, or NONE */
	uint64_t size;	/* size of that function's range, see dwarf_claim() */
	bool taken;	/* found in a unit */
};

/* A want in the set of a DIE. */
struct dwarf_member {
	uint32_t want;
	uint64_t size; /* size of the smallest range of a function around it */
};

/* A function inlined at one place. */
struct dwarf_node {
	const char *name, *file; /* file and line of the call */
	uint32_t line;
	uint32_t outer; /* the node it is inlined into, or NONE */
};

struct dwarf_span {
	uint32_t first, n; /* range in frame[] */
};

struct dwarf {
	struct dwarf_span *span; /* by the caller's index of an address */
	size_t n;
	struct dwarf_frame *frame;
	size_t n_frame, cap_frame;
	struct intern strings;
	bool gave_up;
	size_t missing; /* units whose .dwo file is missing */
	const char *missed;
	size_t unread; /* units without their lines */
	/* Used by dwarf_lookup() only: */
	struct dwarf_want *want; /* sorted by address */
	struct dwarf_node *node;
	size_t n_node, cap_node;
	struct dwarf_member *set; /* a stack of sets, see dwarf_walk() */
	size_t n_set, cap_set;
	struct split_package *package; /* opened when the first unit needs it */
	bool has_looked_for_package;
	/* Of the current unit: */
	Dwarf_Files *files;
	const char *folder; /* compilation folder, or NULL */
	bool deep;
	bool no_lines;		   /* its lines are not read */
	struct split_dwarf *split; /* its .dwo file; NULL if it has none */
	struct dwarf_scopes scopes;
	struct dwarf_units *units; /* all units of the file */
	bool reaches_out; /* a name may be in a unit that is not read yet */
	struct timespec until;
	unsigned int looks;
};

static const char *dwarf_keep(struct dwarf *d, const char *s)
{
	return s ? intern_get(&d->strings, intern_add(&d->strings, s)) : NULL;
}

/* Returns a copy of a file name, completed by the compilation folder if it is
 * relative. */
static const char *dwarf_keep_file(struct dwarf *d, const char *file)
{
	char path[4096];

	if (!file || *file == '/' || !d->folder || !*d->folder)
		return dwarf_keep(d, file);
	int n = snprintf(path, sizeof(path), "%s/%s", d->folder, file);
	return dwarf_keep(d, n > 0 && (size_t)n < sizeof(path) ? path : file);
}

static bool dwarf_out_of_time(struct dwarf *d)
{
	struct timespec now;

	if (d->gave_up || ++d->looks % LOOKS_PER_CLOCK)
		return d->gave_up;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	d->gave_up = now.tv_sec > d->until.tv_sec ||
		     (now.tv_sec == d->until.tv_sec &&
		      now.tv_nsec >= d->until.tv_nsec);
	return d->gave_up;
}

bool dwarf_has(const struct elf_file *ef)
{
	/* false: relocations have to be applied before */
	if (ef->type == ET_REL && !elf_can_relocate(ef->machine))
		return false;
	return dwarf_sections_readable(ef, ".debug_info");
}

/* ---- functions inlined at an address */

/* Returns the first index in set[first..first+n) whose address is not below
 * addr. */
static size_t dwarf_lower_bound(const struct dwarf *d, size_t first, size_t n,
				uint64_t addr)
{
	const struct dwarf_member *set = d->set + first;

	return first + search_where(n, i, d->want[set[i].want].vaddr >= addr);
}

/* Returns whether a range is real: code that the linker discarded has the
 * address 0. */
static bool dwarf_is_real_range(uint64_t start, uint64_t end)
{
	return start && start < end;
}

COMPARE_BY(dwarf_compare_members, struct dwarf_member, want, size);

struct dwarf_range_walk {
	ptrdiff_t at;
	Dwarf_Addr base;
	struct split_dwarf_walk split;
};

static bool dwarf_next_range(const struct dwarf *d, Dwarf_Die *die,
			     struct dwarf_range_walk *w, Dwarf_Addr *start,
			     Dwarf_Addr *end)
{
	if (d->split)
		return split_dwarf_range(d->split, die, &w->split, start, end);
	w->at = dwarf_ranges(die, w->at, &w->base, start, end);
	return w->at > 0;
}

/* Sorts the top of the stack of sets, from first on, as ranges are unsorted and
 * cold parts are far away. A member of several ranges is kept once. */
static void dwarf_sort_top(struct dwarf *d, size_t first)
{
	size_t n = first;

	sort_items(d->set + first, d->n_set - first, dwarf_compare_members);
	for (size_t i = first; i < d->n_set; i++)
		if (n == first || d->set[n - 1].want != d->set[i].want)
			d->set[n++] = d->set[i];
	d->n_set = n;
}

/* Copies the members of a set that are in the ranges of a DIE to the top of the
 * stack of sets. Returns how many. */
static size_t dwarf_pick(struct dwarf *d, Dwarf_Die *die, size_t first,
			 size_t n)
{
	bool inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
	size_t top = d->n_set;
	struct dwarf_range_walk w = { .at = 0 };
	Dwarf_Addr start;
	Dwarf_Addr end;
	bool mixed = false;

	while (dwarf_next_range(d, die, &w, &start, &end)) {
		if (dwarf_out_of_time(d))
			break;
		if (!dwarf_is_real_range(start, end))
			continue;
		size_t a = dwarf_lower_bound(d, first, n, start);
		size_t b = dwarf_lower_bound(d, a, first + n - a, end);
		if (a == b)
			continue;
		mem_grow(d->set, d->cap_set, d->n_set + (b - a));
		mixed |= d->n_set > top &&
			 d->set[d->n_set - 1].want >= d->set[a].want;
		for (; a < b; a++) {
			struct dwarf_member m = d->set[a];

			if (inlined && end - start < m.size)
				m.size = end - start;
			d->set[d->n_set++] = m;
		}
		/* A hostile DIE has the same range any number of times. */
		if (mixed && d->n_set - top > 2 * n)
			dwarf_sort_top(d, top);
	}
	if (mixed)
		dwarf_sort_top(d, top);
	return d->n_set - top;
}

/* Removes the members on top of the stack, from top on, from a set. Returns how
 * many stay in the set. */
static size_t dwarf_take(struct dwarf *d, size_t first, size_t n, size_t top)
{
	size_t left = first;

	for (size_t i = first; i < first + n; i++) {
		if (top < d->n_set && d->set[top].want == d->set[i].want)
			top++;
		else
			d->set[left++] = d->set[i];
	}
	return left - first;
}

/* Assigns the members on top of the stack to an inlined function or, as NONE,
 * to one that is not inlined. Ranges of siblings overlap where the compiler
 * moved code (gcc 12 with -O3 -flto): the smallest range gets an address, and
 * of equal ones the last, as a child comes after its parent. A range that is
 * larger than that of the function around it counts as equal to that. */
static void dwarf_claim(struct dwarf *d, size_t top, uint32_t node)
{
	for (; top < d->n_set; top++) {
		const struct dwarf_member *m = &d->set[top];
		struct dwarf_want *w = &d->want[m->want];

		if (node != NONE && m->size > w->size)
			continue;
		w->node = node;
		w->size = m->size;
	}
}

static uint32_t dwarf_add_node(struct dwarf *d, Dwarf_Die *die, uint32_t outer)
{
	static const unsigned int attr[] = { DW_AT_linkage_name,
					     DW_AT_MIPS_linkage_name,
					     DW_AT_name };

	if (!d->split && dwarf_units_reach_out(d->units, die))
		d->reaches_out = true;
	const char *name = dwarf_scopes_name(&d->scopes, die);

	/* the linkage name, as in symbol tables, distinguishes overloads */
	for (size_t i = 0; !name && i < ARRAY_SIZE(attr); i++) {
		Dwarf_Attribute a;
		const char *s = dwarf_sections_string(
			dwarf_attr_integrate(die, attr[i], &a));

		if (s && *s)
			name = s;
	}

	uint64_t line = dwarf_sections_number(die, DW_AT_call_line, 0);
	const char *file = NULL;

	if (d->files)
		file = dwarf_filesrc(
			d->files,
			(size_t)dwarf_sections_number(die, DW_AT_call_file, 0),
			NULL, NULL);
	*mem_add(d->node, d->n_node, d->cap_node) = (struct dwarf_node){
		.name = dwarf_keep(d, name ? name : "[inlined]"),
		.file = dwarf_keep_file(d, file),
		.line = line < UINT32_MAX ? (uint32_t)line : 0,
		.outer = outer,
	};
	return (uint32_t)d->n_node - 1;
}

/* DIEs that may contain functions although they have no address range. */
static bool dwarf_is_container(const struct dwarf *d, unsigned int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
	case DW_TAG_variant_part:
	case DW_TAG_variant:
	case DW_TAG_subprogram:
		return d->deep;
	default:
		return false;
	}
}

/* Returns whether a DIE is a part of a function. gcc 12 writes blocks with an
 * empty list of ranges around functions inlined there (-O2 -gdwarf-4), so the
 * ranges of parts are not read. */
static bool dwarf_is_part(unsigned int tag)
{
	switch (tag) {
	case DW_TAG_lexical_block:
	case DW_TAG_entry_point:
	case DW_TAG_with_stmt:
	case DW_TAG_catch_block:
	case DW_TAG_try_block:
		return true;
	default:
		return false;
	}
}

/* Searches the children of a DIE for the members of set[first..first+n), which
 * is sorted. The first function that is not inlined gets an address; inside of
 * it all children are searched. Returns the number of addresses that no
 * function got, which are moved to the front. */
static size_t dwarf_walk(struct dwarf *d, Dwarf_Die *parent, size_t first,
			 size_t n, uint32_t node, unsigned int depth)
{
	Dwarf_Die die;

	if (!n || depth > DEPTH_MAX || dwarf_child(parent, &die))
		return n;
	do {
		unsigned int tag = (unsigned int)dwarf_tag(&die);
		size_t top = d->n_set;

		if (dwarf_out_of_time(d))
			break;
		bool inlined = tag == DW_TAG_inlined_subroutine;
		size_t got = inlined || tag == DW_TAG_subprogram
				     ? dwarf_pick(d, &die, first, n)
				     : 0;
		if (got) {
			uint32_t inner =
				inlined ? dwarf_add_node(d, &die, node) : NONE;
			if (!inlined)
				n = dwarf_take(d, first, n, top);
			dwarf_claim(d, top, inner);
			dwarf_walk(d, &die, top, got, inner, depth + 1);
			d->n_set = top;
		}
		bool part = dwarf_is_part(tag);
		if (n && (part || dwarf_is_container(d, tag)))
			n = dwarf_walk(d, &die, first, n, part ? node : NONE,
				       depth + 1);
	} while (n && !dwarf_siblingof(&die, &die));
	return n;
}

/* ---- lines */

/* Looks up the addresses set[0..n), which are in this unit. */
static void dwarf_look_unit(struct dwarf *d, Dwarf_Die *unit, size_t n)
{
	struct dwarf_member *all OWNED = mem_dup(d->set, n * sizeof(*all));
	Dwarf_Die *tree = d->split ? split_dwarf_unit(d->split) : unit;

	/* A .dwo file has the table of files of the skeleton unit (DWARF
	 * 5, 3.1.2); the table in it is of types if clang wrote it, and libdw
	 * would take that. */
	size_t n_file;

	if (d->no_lines || dwarf_getsrcfiles(unit, &d->files, &n_file))
		d->files = NULL;
	d->n_node = 0;
	d->n_set = n;
	d->deep = false;
	size_t left = dwarf_walk(d, tree, 0, n, NONE, 0);
	/* only few units have functions inside types (Rust), or code of a
	 * function outside the DIE it is nested in; but there are many types */
	d->deep = true;
	if (left) {
		d->n_set = left;
		dwarf_walk(d, tree, 0, left, NONE, 0);
	}
	/* the line of each address, and the chain of calls that were inlined
	 * there */
	for (size_t i = 0; i < n && !dwarf_out_of_time(d); i++) {
		const struct dwarf_want *w = &d->want[all[i].want];
		Dwarf_Line *row =
			d->no_lines ? NULL : dwarf_getsrc_die(unit, w->vaddr);
		const char *file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
		struct dwarf_span *sp = &d->span[w->index];
		uint32_t at = w->node;
		int line = 0;

		if (row && dwarf_lineno(row, &line))
			line = 0;
		if (!file && at == NONE)
			continue;
		struct dwarf_frame fr = { .file = dwarf_keep_file(d, file),
					  .line = line > 0 ? (uint32_t)line
							   : 0 };

		sp->first = (uint32_t)d->n_frame;
		for (;;) {
			fr.name = at == NONE ? NULL : d->node[at].name;
			*mem_add(d->frame, d->n_frame, d->cap_frame) = fr;
			sp->n++;
			if (at == NONE)
				break;
			fr.file = d->node[at].file;
			fr.line = d->node[at].line;
			at = d->node[at].outer;
		}
	}
	struct dwarf_scopes *s = &d->scopes;

	for (size_t i = 0; i < s->n; i++)
		free(s->name[i]);
	free(s->name);
	table_release(&s->known);
	/* all units of a file share the steps */
	*s = (struct dwarf_scopes){ .steps = s->steps };
}

/* Adds the addresses in a range that no earlier unit has to set[0..n). Returns
 * their number. */
static size_t dwarf_range_wants(struct dwarf *d, uint64_t start, uint64_t end,
				size_t n)
{
	if (!dwarf_is_real_range(start, end))
		return n;
	size_t lo = search_where(d->n, i, d->want[i].vaddr >= start);

	for (; lo < d->n && d->want[lo].vaddr < end; lo++) {
		if (d->want[lo].taken)
			continue;
		d->want[lo].taken = true;
		*mem_add(d->set, n, d->cap_set) = (struct dwarf_member){
			.want = (uint32_t)lo,
			.size = UINT64_MAX,
		};
	}
	return n;
}

struct dwarf_file {
	const struct elf_file *ef;
	Dwarf *dw, *alt; /* alt NULL: none */
	struct dwarf_units *units;
	uint64_t lines; /* the most bytes that line tables take in libdw */
};

/* Opens the debug information in libdw. Returns false if there is none. */
static bool dwarf_file_begin(struct dwarf_file *df)
{
	df->lines = 0;
	df->dw = dwarf_begin_elf(df->ef->elf, DWARF_C_READ, NULL);
	if (df->dw && df->alt)
		dwarf_setalt(df->dw, df->alt);
	return df->dw != NULL;
}

/* Prepares unit i for reading its lines. libdw keeps those of all units until
 * it is ended. Returns false if the file must not be read further. */
static bool dwarf_begin_unit(struct dwarf *d, struct dwarf_file *df, size_t i,
			     Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	Dwarf_Word off;
	uint64_t bytes = 0;

	dwarf_units_need_lines(d->units, unit);
	d->folder = dwarf_sections_text(unit, DW_AT_comp_dir);
	if (!dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attr), &off))
		bytes = line_rows_bytes(df->ef, off, d->folder);
	d->no_lines = bytes > LINE_ROWS_BYTES_MAX;
	d->unread += d->no_lines;
	/* a large one takes a second */
	if (bytes > LINE_ROWS_BYTES_MAX / LOOKS_PER_CLOCK)
		d->looks |= LOOKS_PER_CLOCK - 1;
	if (d->no_lines || df->lines + bytes <= LINE_ROWS_BYTES_MAX) {
		df->lines += d->no_lines ? 0 : bytes;
		return true;
	}
	dwarf_end(df->dw);
	if (!dwarf_file_begin(df))
		return false;
	dwarf_units_begin(df->units, df->dw);
	const struct dwarf_unit *u = dwarf_units_get(df->units, i);
	if (!u)
		return false;
	*unit = u->die;
	d->folder = dwarf_sections_text(unit, DW_AT_comp_dir);
	df->lines = bytes;
	return true;
}

static void dwarf_look_all(struct dwarf *d, struct symbolizer *sy,
			   struct dwarf_file *df)
{
	const struct dwarf_unit *u;
	size_t left = d->n;

	for (size_t i = 0; left && !dwarf_out_of_time(d); i++) {
		u = dwarf_units_get(d->units, i);
		if (!u)
			break;
		/* collect the addresses in the ranges of the unit that no
		 * earlier unit has in set[0..n) */
		const struct dwarf_range *r = dwarf_units_ranges(d->units, u);
		Dwarf_Die die = u->die;
		Dwarf_Addr base;
		Dwarf_Addr start;
		Dwarf_Addr end;
		ptrdiff_t at = 0;
		size_t n = 0;

		for (size_t k = 0; k < u->n && !dwarf_out_of_time(d); k++)
			n = dwarf_range_wants(d, r[k].start, r[k].end, n);
		while (u->unlisted && !dwarf_out_of_time(d) &&
		       (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0)
			n = dwarf_range_wants(d, start, end, n);
		Dwarf_Die unit = u->die;

		if (!n)
			continue;
		/* Ranges are unsorted, wants are sorted. */
		sort_items(d->set, n, dwarf_compare_members);
		bool skeleton = u->skeleton;

		if (!dwarf_begin_unit(d, df, i, &unit))
			break;
		if (skeleton) {
			/* lines are in the skeleton unit, inlined functions in
			 * the .dwo file */
			if (!d->has_looked_for_package)
				d->package = split_package_open(sy, df->ef);
			d->has_looked_for_package = true;
			d->split =
				split_dwarf_open(sy, df->ef, d->package, &unit);
			if (!d->split)
				d->missed =
					d->missing++
						? d->missed
						: dwarf_keep(d,
							     split_dwarf_name(
								     &unit));
			dwarf_look_unit(d, &unit, n);
			split_dwarf_close(d->split);
			d->split = NULL;
		} else
			dwarf_look_unit(d, &unit, n);
		left -= n;
	}
}

/* ---- entry points */

COMPARE_BY(dwarf_compare_address, struct dwarf_want, vaddr, index);

/* Resets all results. */
static void dwarf_forget(struct dwarf *d)
{
	for (size_t i = 0; i < d->n; i++) {
		d->want[i].node = NONE;
		d->want[i].size = UINT64_MAX;
		d->want[i].taken = false;
	}
	memset(d->span, 0, d->n * sizeof(*d->span));
	d->n_frame = 0;
	d->missing = d->unread = 0;
	d->reaches_out = false;
}

struct dwarf_file *dwarf_open(const struct elf_file *ef,
			      const struct elf_file *alt)
{
	struct elf_section s;

	/* without alt: libdw would open whatever file the section names */
	if (!dwarf_has(ef) ||
	    (!alt && elf_section_find(ef, ".gnu_debugaltlink", &s)) ||
	    (alt && !dwarf_has(alt)))
		return NULL;
	if (ef->type == ET_REL && !relocate_debug(ef))
		return NULL;
	dwarf_sections_drop_unread(ef);
	struct dwarf_file *df = mem_new(1, sizeof(*df));

	/* relocated sections are in libelf's memory, so they are not inflated
	 * in parts */
	*df = (struct dwarf_file){
		.ef = ef,
		.units = dwarf_units_new(ef, ef->fd >= 0 && ef->type != ET_REL),
	};
	if (alt) {
		dwarf_sections_drop_unread(alt);
		df->alt = dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL);
	}
	if ((alt && !df->alt) || !dwarf_file_begin(df)) {
		dwarf_close(df);
		return NULL;
	}
	dwarf_units_begin(df->units, df->dw);
	return df;
}

void dwarf_close(struct dwarf_file *df)
{
	if (!df)
		return;
	dwarf_end(df->dw);
	dwarf_end(df->alt);
	dwarf_units_free(df->units);
	free(df);
}

struct dwarf *dwarf_lookup(struct symbolizer *sy, struct dwarf_file *df,
			   const uint64_t *vaddr, size_t n)
{
	struct dwarf *d = mem_new(1, sizeof(*d));

	d->n = n < NONE ? n : 0;
	d->span = mem_new(n, sizeof(*d->span));
	d->want = mem_new(d->n, sizeof(*d->want));
	for (size_t i = 0; i < d->n; i++)
		d->want[i] = (struct dwarf_want){ .vaddr = vaddr[i],
						  .index = (uint32_t)i,
						  .node = NONE,
						  .size = UINT64_MAX };
	sort_items(d->want, d->n, dwarf_compare_address);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &d->until);
	d->until.tv_sec += SECONDS_MAX;
	d->units = df->units;
	dwarf_look_all(d, sy, df);
	if (d->reaches_out) {
		dwarf_units_need_all(df->units);
		dwarf_forget(d);
		dwarf_look_all(d, sy, df);
	}
	if (dwarf_units_damaged(df->units))
		dwarf_forget(d);
	free_all(d->want, d->node, d->set);
	split_package_close(d->package);
	d->package = NULL;
	d->want = NULL;
	d->node = NULL;
	d->set = NULL;
	d->files = NULL;
	return d;
}

size_t dwarf_frames(const struct dwarf *d, size_t i,
		    const struct dwarf_frame **out)
{
	*out = d->span[i].n ? &d->frame[d->span[i].first] : NULL;
	return d->span[i].n;
}

size_t dwarf_missing(const struct dwarf *d, const char **name)
{
	*name = d->missed ? d->missed : "?";
	return d->missing;
}

size_t dwarf_unread(const struct dwarf *d)
{
	return d->unread;
}

bool dwarf_gave_up(const struct dwarf *d)
{
	return d->gave_up;
}

void dwarf_free(struct dwarf *d)
{
	if (!d)
		return;
	intern_release(&d->strings);
	free_all(d->span, d->frame, d);
}

struct dwarf_declaring {
	dwarf_declared_fn *fn;
	void *arg;
};

static int dwarf_declare(Dwarf_Die *die, void *arg)
{
	const struct dwarf_declaring *d = arg;
	const char *file = dwarf_decl_file(die);
	const char *name = dwarf_sections_text(die, DW_AT_name);
	int line;

	if (file && name && !dwarf_decl_line(die, &line) && line > 0)
		d->fn(d->arg, file, (uint32_t)line, name);
	return DWARF_CB_OK;
}

void dwarf_declared(struct dwarf_file *df, uint64_t vaddr,
		    dwarf_declared_fn *fn, void *arg)
{
	struct dwarf_declaring d = { fn, arg };
	const struct dwarf_unit *u = NULL;
	Dwarf_Attribute attr;
	Dwarf_Word off;
	bool found = false;

	if (!df)
		return;
	dwarf_units_need_all(df->units);
	for (size_t i = 0; !found && (u = dwarf_units_get(df->units, i)); i++) {
		const struct dwarf_range *r = dwarf_units_ranges(df->units, u);

		found = !u->skeleton && r &&
			any_where(u->n, k,
				  r[k].start <= vaddr && vaddr < r[k].end);
	}
	if (!found)
		return;
	Dwarf_Die unit = u->die;

	dwarf_units_need_lines(df->units, &unit);
	if (!dwarf_formudata(dwarf_attr(&unit, DW_AT_stmt_list, &attr), &off) &&
	    line_rows_bytes(df->ef, off,
			    dwarf_sections_text(&unit, DW_AT_comp_dir)) <=
		    LINE_ROWS_BYTES_MAX)
		dwarf_getfuncs(&unit, dwarf_declare, &d, 0);
}
