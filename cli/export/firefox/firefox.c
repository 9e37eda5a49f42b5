/* firefox.c - tables that the threads of a Firefox Profiler profile share. */
#include "cli/export/firefox/firefox.h"

#include <stdbool.h>

#include "analyze/samples/code.h"
#include "analyze/names/code_place.h"
#include "analyze/stacks/label.h"
#include "stitch/text/json.h"
#include "analyze/stacks/stack_names.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"

/* Rows are written as an object of columns: {"length": 2, "a": [1, 2], ...}. */

#define COLUMN_NONE UINT32_MAX

enum column_kind {
	COLUMN_END,
	COLUMN_U32,
	COLUMN_OR_NULL,	 /* uint32_t; null for COLUMN_NONE */
	COLUMN_OR_MINUS, /* uint32_t; -1 for COLUMN_NONE */
	COLUMN_I64,
	COLUMN_SIZE,  /* uint64_t; null for 0 */
	COLUMN_PLACE, /* the number of the row: 0, 1, 2, ... */
	COLUMN_CONST
};

struct column {
	const char *name;
	enum column_kind kind;
	size_t at;	   /* offset in the row */
	const char *value; /* COLUMN_CONST: JSON text of the value */
};

/* Writes the value of a column in a row, which has number i. */
static void columns_put_value(struct json *j, const struct column *c,
			      const char *row, size_t i)
{
	uint32_t u32 = 0;
	int64_t i64 = 0;

	switch (c->kind) {
	case COLUMN_CONST:
		json_number(j, NULL, c->value);
		break;
	case COLUMN_PLACE:
		json_uint(j, NULL, i);
		break;
	case COLUMN_SIZE:
	case COLUMN_I64:
		memcpy(&i64, row + c->at, sizeof(i64));
		json_int_or_null(j, NULL, i64, c->kind == COLUMN_I64 || i64);
		break;
	default:
		memcpy(&u32, row + c->at, sizeof(u32));
		if (c->kind == COLUMN_U32 || u32 != COLUMN_NONE)
			json_uint(j, NULL, u32);
		else if (c->kind == COLUMN_OR_NULL)
			json_null(j, NULL);
		else
			json_int(j, NULL, -1);
	}
}

/* Writes n rows of size bytes each as an object with an array for each column;
 * the columns end with COLUMN_END. */
static void columns_json(struct json *j, const char *key,
			 const struct column *c, const void *rows, size_t size,
			 size_t n)
{
	json_object(j, key);
	json_uint(j, "length", n);
	for (; c->kind; c++) {
		json_break(j);
		json_array(j, c->name);
		for (size_t i = 0; i < n; i++)
			columns_put_value(j, c, (const char *)rows + i * size,
					  i);
		json_end(j);
	}
	json_end(j);
}

/* The Firefox Profiler keeps addresses in 32 bits. */
#define ADDRESS_MAX INT32_MAX
/* The base of an image is the difference of address and offset, rounded down to
 * a multiple of BASE_ALIGN: segments of a file are shifted by less, and
 * programs that are not position-independent start far above it. */
#define BASE_ALIGN 0x10000u

enum subcategory {
	SUB_OTHER,
	SUB_INLINED,
	SUB_UNNAMED,
	SUB_INFERRED,
	SUB_GUESSED,
	SUB_BOGUS
};

static const char *const subcategories[] = {
	[SUB_OTHER] = "Other",
	[SUB_INLINED] = "Inlined",
	[SUB_UNNAMED] = "No name",
	[SUB_INFERRED] = "Inferred caller",
	[SUB_GUESSED] = "By frame pointer",
	[SUB_BOGUS] = "Bogus: no call before it",
};

static const struct {
	const char *name, *color;
} categories[FIREFOX_CATEGORIES] = {
	[FIREFOX_OTHER] = { "Other", "grey" },
	[FIREFOX_USER] = { "User", "yellow" },
	[FIREFOX_KERNEL] = { "Kernel", "orange" },
	[FIREFOX_JIT] = { "JIT", "green" },
	[FIREFOX_MISSING] = { "Missing user stack", "red" },
	[FIREFOX_EXEC] = { "After exec", "magenta" },
	[FIREFOX_LOSS] = { "Lost records", "red" },
};

/* Rows of the tables. FIREFOX_NONE is written as null or -1. */
struct stack_row {
	uint32_t prefix, frame;
};

struct frame_row {
	int64_t address; /* in the library; -1: not known */
	uint32_t depth, category, subcategory, func, native, line;
};

struct func_row {
	uint32_t name, resource, source;
};

struct native_row {
	uint32_t lib, name;
	int64_t address;
	uint64_t size;
};

struct source_row {
	uint32_t name;
};

/* resource i is library i */
struct lib_row {
	uint32_t image, name;
};

/* Frames with the same key are one row. */
struct frame_key {
	uint32_t label, frame, inlined, called;
};

#define LIST(type, name)                                                       \
	struct type *name;                                                     \
	size_t n_##name, cap_##name

struct firefox {
	const struct known_code *c;
	struct code_places *places;
	struct labels *labels;
	LIST(stack_row, stack);
	LIST(frame_row, frame);
	LIST(func_row, func);
	LIST(native_row, native);
	LIST(source_row, source);
	LIST(lib_row, lib);
	struct intern strings;
	uint32_t *lib_of; /* by image: index in lib[] + 1; 0: not added yet */
	/* ids of keys are indexes of rows */
	struct intern stacks, frames, funcs, natives, sources;
};

struct firefox *firefox_new(const struct known_code *c,
			    struct code_places *places, struct labels *labels)
{
	struct firefox *f = mem_new(1, sizeof(*f));

	f->c = c;
	f->places = places;
	f->labels = labels;
	f->lib_of = mem_new(c->n_image, sizeof(*f->lib_of));
	return f;
}

void firefox_free(struct firefox *f)
{
	if (!f)
		return;
	intern_release(&f->strings);
	intern_release(&f->stacks);
	intern_release(&f->frames);
	intern_release(&f->funcs);
	intern_release(&f->natives);
	intern_release(&f->sources);
	free_all(f->stack, f->frame, f->func, f->native, f->source, f->lib,
		 f->lib_of, f);
}

uint32_t firefox_string(struct firefox *f, const char *s)
{
	return intern_add(&f->strings, s);
}

/* Returns the index of an image's library, added if new; FIREFOX_NONE for
 * unknown, anonymous and jitted code. */
static uint32_t firefox_library_of(struct firefox *f, uint32_t image)
{
	const struct image *img = &f->c->image[image].img;

	if (!img->path[0] || img->kind == IMAGE_UNKNOWN_USER ||
	    img->kind == IMAGE_UNKNOWN_KERNEL || img->kind == IMAGE_ANON ||
	    img->kind == IMAGE_JIT)
		return FIREFOX_NONE;
	if (!f->lib_of[image]) {
		struct lib_row row = {
			image, firefox_string(f, path_name(img->path))
		};

		*mem_add(f->lib, f->n_lib, f->cap_lib) = row;
		f->lib_of[image] = (uint32_t)f->n_lib;
	}
	return f->lib_of[image] - 1;
}

/* Returns the address in the library; -1: not known, or too large. It is the
 * offset in the kernel or its module, the ELF address minus the base for a
 * file. */
static int64_t address_of(struct firefox *f, const struct label_from *from)
{
	const struct code_frame *fr = &f->c->frame[from->frame];
	struct code_place place =
		code_place(f->places, from->frame, from->called);
	uint64_t addr = place.addr;

	if (!place.mapping)
		return -1;

	const struct code_mapping *m = code_mapping(f->places, place.mapping);
	uint64_t apart = m->start >= m->off ? m->start - m->off : 0;

	if (image_is_kernel(f->c->image[fr->image].img.kind))
		addr -= m->start;
	else
		addr -= apart - apart % BASE_ALIGN;
	return addr <= ADDRESS_MAX ? (int64_t)addr : -1;
}

/* Returns a library's function by name; its source is the first one known. */
static uint32_t func_of(struct firefox *f, const char *name, uint32_t lib,
			const char *file)
{
	struct func_row row = { firefox_string(f, name), lib, FIREFOX_NONE };

	if (file) {
		struct source_row source = { firefox_string(f, file) };

		row.source =
			intern_add_bytes(&f->sources, &source, sizeof(source));
		if (row.source == f->n_source)
			*mem_add(f->source, f->n_source, f->cap_source) =
				source;
	}
	uint32_t id = intern_add_bytes(&f->funcs, &row,
				       offsetof(struct func_row, source));
	if (id == f->n_func)
		*mem_add(f->func, f->n_func, f->cap_func) = row;
	else if (f->func[id].source == FIREFOX_NONE)
		f->func[id].source = row.source;
	return id;
}

/* Returns the symbol at the frame's address; FIREFOX_NONE: not known. */
static uint32_t native_of(struct firefox *f, const struct code_frame *fr,
			  uint32_t lib, int64_t address, bool called)
{
	/* a return address may be after the end of its function */
	uint64_t in = called && fr->symoff ? fr->symoff - 1 : fr->symoff;

	if (lib == FIREFOX_NONE || address < 0 || !fr->at.name ||
	    in > (uint64_t)address)
		return FIREFOX_NONE;

	struct native_row row = { lib, firefox_string(f, fr->at.name),
				  address - (int64_t)in, fr->symsize };
	uint32_t id = intern_add_bytes(&f->natives, &row,
				       offsetof(struct native_row, size));

	if (id == f->n_native)
		*mem_add(f->native, f->n_native, f->cap_native) = row;
	return id;
}

/* Returns the subcategory of a frame that script marks as doubtful; or none. */
static uint32_t firefox_frame_doubt(const struct code_frame *fr, bool called,
				    uint32_t none)
{
	if (called && fr->bogus)
		return SUB_BOGUS;
	if (fr->flags & FRAME_INFERRED)
		return SUB_INFERRED;
	return fr->flags & FRAME_GUESSED ? SUB_GUESSED : none;
}

/* Returns the frame of that name and code. An inlined function has its own
 * source line, and the address of the function that contains it. */
static uint32_t frame_of(struct firefox *f, uint32_t label,
			 const struct label_from *from)
{
	struct frame_key key = { label, from->frame, from->inlined,
				 from->called };
	uint32_t id = intern_add_bytes(&f->frames, &key, sizeof(key));

	if (id < f->n_frame)
		return id;

	const struct label *l = labels_get(f->labels, label);
	struct frame_row row = { .address = -1,
				 .native = FIREFOX_NONE,
				 .line = FIREFOX_NONE };

	/* other kinds are FIREFOX_OTHER */
	static const uint8_t category[] = {
		[LABEL_USER] = FIREFOX_USER, [LABEL_KERNEL] = FIREFOX_KERNEL,
		[LABEL_JIT] = FIREFOX_JIT,   [LABEL_MISSING] = FIREFOX_MISSING,
		[LABEL_EXEC] = FIREFOX_EXEC,
	};

	row.category = l->kind < ARRAY_SIZE(category) ? category[l->kind]
						      : FIREFOX_OTHER;
	row.subcategory = l->kind == LABEL_INLINED   ? SUB_INLINED
			  : l->kind == LABEL_UNNAMED ? SUB_UNNAMED
						     : SUB_OTHER;
	if (row.subcategory != SUB_OTHER)
		row.category = l->kernel ? FIREFOX_KERNEL : FIREFOX_USER;
	if (from->frame && from->frame < f->c->n_frame &&
	    from->inlined <= f->c->frame[from->frame].n_inlined) {
		const struct code_frame *fr = &f->c->frame[from->frame];
		const struct code_where *at = &fr->at;
		uint32_t lib = firefox_library_of(f, fr->image);

		if (from->inlined) {
			at = &f->c->inlined[fr->inlined + from->inlined - 1];
			row.depth = fr->n_inlined - (from->inlined - 1);
		}
		row.subcategory =
			firefox_frame_doubt(fr, from->called, row.subcategory);
		if (lib != FIREFOX_NONE)
			row.address = address_of(f, from);
		row.native = native_of(f, fr, lib, row.address, from->called);
		row.line = at->line ? at->line : FIREFOX_NONE;
		row.func = func_of(f, l->name, lib, at->file);
	} else {
		row.func = func_of(f, l->name, FIREFOX_NONE, NULL);
	}
	*mem_add(f->frame, f->n_frame, f->cap_frame) = row;
	return id;
}

uint32_t firefox_stack(struct firefox *f, const struct label_list *l)
{
	uint32_t at = FIREFOX_NONE;

	for (size_t i = 0; i < l->n; i++) {
		struct stack_row row = { at, frame_of(f, l->label[i],
						      &l->from[i]) };

		at = intern_add_bytes(&f->stacks, &row, sizeof(row));
		if (at == f->n_stack)
			*mem_add(f->stack, f->n_stack, f->cap_stack) = row;
	}
	return at;
}

#define AT(type, field) offsetof(struct type, field)

static const struct column stack_columns[] = {
	{ "frame", COLUMN_U32, AT(stack_row, frame), NULL },
	{ "prefix", COLUMN_OR_NULL, AT(stack_row, prefix), NULL },
	{ 0 }
};

static const struct column frame_columns[] = {
	{ "address", COLUMN_I64, AT(frame_row, address), NULL },
	{ "inlineDepth", COLUMN_U32, AT(frame_row, depth), NULL },
	{ "category", COLUMN_U32, AT(frame_row, category), NULL },
	{ "subcategory", COLUMN_U32, AT(frame_row, subcategory), NULL },
	{ "func", COLUMN_U32, AT(frame_row, func), NULL },
	{ "nativeSymbol", COLUMN_OR_NULL, AT(frame_row, native), NULL },
	{ "innerWindowID", COLUMN_CONST, 0, "null" },
	{ "line", COLUMN_OR_NULL, AT(frame_row, line), NULL },
	{ "column", COLUMN_CONST, 0, "null" },
	{ 0 }
};

static const struct column func_columns[] = {
	{ "name", COLUMN_U32, AT(func_row, name), NULL },
	{ "isJS", COLUMN_CONST, 0, "false" },
	{ "relevantForJS", COLUMN_CONST, 0, "false" },
	{ "resource", COLUMN_OR_MINUS, AT(func_row, resource), NULL },
	{ "source", COLUMN_OR_NULL, AT(func_row, source), NULL },
	{ "lineNumber", COLUMN_CONST, 0, "null" },
	{ "columnNumber", COLUMN_CONST, 0, "null" },
	{ 0 }
};

static const struct column native_columns[] = {
	{ "libIndex", COLUMN_U32, AT(native_row, lib), NULL },
	{ "address", COLUMN_I64, AT(native_row, address), NULL },
	{ "name", COLUMN_U32, AT(native_row, name), NULL },
	{ "functionSize", COLUMN_SIZE, AT(native_row, size), NULL },
	{ 0 }
};

/* type 1: a library */
static const struct column resource_columns[] = {
	{ "lib", COLUMN_PLACE, 0, NULL },
	{ "name", COLUMN_U32, AT(lib_row, name), NULL },
	{ "host", COLUMN_CONST, 0, "null" },
	{ "type", COLUMN_CONST, 0, "1" },
	{ 0 }
};

static const struct column source_columns[] = {
	{ "uuid", COLUMN_CONST, 0, "null" },
	{ "filename", COLUMN_U32, AT(source_row, name), NULL },
	{ 0 }
};

#define TABLE(j, title, f, name, columns)                                      \
	columns_json(j, title, columns, (f)->name, sizeof(*(f)->name),         \
		     (f)->n_##name)

void firefox_put_shared(const struct firefox *f, struct json *j)
{
	json_object(j, "shared");
	json_array(j, "stringArray");
	for (size_t i = 0; i < f->strings.n; i++) {
		json_break(j);
		json_shown(j, NULL, f->strings.string[i]);
	}
	json_end(j);
	TABLE(j, "stackTable", f, stack, stack_columns);
	TABLE(j, "frameTable", f, frame, frame_columns);
	TABLE(j, "funcTable", f, func, func_columns);
	TABLE(j, "nativeSymbols", f, native, native_columns);
	TABLE(j, "sources", f, source, source_columns);
	TABLE(j, "resourceTable", f, lib, resource_columns);
	json_end(j);
}

void firefox_put_ms(struct json *j, const char *key, uint64_t ns)
{
	json_fixed(j, key, ns, 1000000, 6);
}

void firefox_put_time(struct json *j, const char *key, int64_t begin,
		      int64_t time)
{
	firefox_put_ms(j, key,
		       time > begin ? (uint64_t)time - (uint64_t)begin : 0);
}

/* Writes the first 16 bytes of the build-id as a GUID, whose first three fields
 * are in the other byte order, and an age of 0; "" without a build-id. */
static void breakpad_id(const struct image *img, char id[static 34])
{
	static const uint8_t order[16] = { 3, 2, 1,  0,	 5,  4,	 7,  6,
					   8, 9, 10, 11, 12, 13, 14, 15 };

	if (!img->id_len)
		return;
	for (size_t i = 0; i < 16; i++)
		snprintf(id + 2 * i, 3, "%02X",
			 order[i] < img->id_len ? img->id[order[i]] : 0);
	memcpy(id + 32, "0", 2);
}

void firefox_put_libs(const struct firefox *f, struct json *j)
{
	json_array(j, "libs");
	for (size_t i = 0; i < f->n_lib; i++) {
		const struct image *img = &f->c->image[f->lib[i].image].img;
		const char *name = path_name(img->path);
		char id[34] = "";

		json_object(j, NULL);
		json_text(j, "arch", "");
		json_text(j, "name", name);
		json_text(j, "path", img->path);
		json_text(j, "debugName", name);
		json_text(j, "debugPath", img->path);
		breakpad_id(img, id);
		json_text(j, "breakpadId", id);
		if (img->id_len)
			json_hex_bytes(j, "codeId", img->id, img->id_len);
		else
			json_null(j, "codeId");
		json_end(j);
	}
	json_end(j);
}

void firefox_put_categories(struct json *j)
{
	json_array(j, "categories");
	for (size_t i = 0; i < FIREFOX_CATEGORIES; i++) {
		json_break(j);
		json_object(j, NULL);
		json_text(j, "name", categories[i].name);
		json_text(j, "color", categories[i].color);
		json_array(j, "subcategories");
		for (size_t k = 0; k <= SUB_BOGUS; k++)
			json_text(j, NULL, subcategories[k]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}
