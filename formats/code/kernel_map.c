/* kernel_map.c - derives where the code of a kernel is from a copy of its
 * /proc/kallsyms. */
#include "formats/code/kernel_map.h"

#include "stitch/base/kallsyms_text.h"

#define PAGE 4096u
#define MODULES_MAX 20000u
#define KSYMBOLS_MAX 100000u
#define NAME_SIZE 64 /* of modules; the kernel has at most 56 bytes */
#define SYMBOL_SIZE 512
#define TYPE_BPF 1
#define TYPE_OOL 2

/* State of reading the lines. */
struct kernel_map_state {
	struct kernel_map *out;
	uint64_t low, high; /* of the kernel's functions */
	uint64_t stext;
	const char *module; /* of the last lines, in the text */
	size_t module_len;  /* 0: the kernel */
	bool is_bpf;
	bool is_pseudo; /* each symbol is separate code */
	uint64_t mod_low, mod_high;
	size_t n_modules, n_ksymbols;
	size_t open; /* item that ends at the next line, plus 1 */
};

static struct kernel_code *kernel_map_add(struct kernel_map *km,
					  const char *name, size_t len)
{
	struct kernel_code *c = mem_add(km->at, km->n, km->cap);

	*c = (struct kernel_code){
		.name = arena_strndup(&km->names, name, len),
	};
	return c;
}

static void kernel_map_add_range(struct kernel_map *km, uint64_t start,
				 uint64_t end, uint64_t pgoff, const char *name)
{
	if (end <= start)
		return;
	struct kernel_code *c = kernel_map_add(km, name, strlen(name));

	c->start = start;
	c->len = end - start;
	c->pgoff = pgoff;
}

static uint64_t kernel_map_page_start(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

static uint64_t kernel_map_page_end(uint64_t addr)
{
	return kernel_map_page_start(addr) > UINT64_MAX - 2 * PAGE
		       ? UINT64_MAX
		       : kernel_map_page_start(addr) + PAGE;
}

static void kernel_map_end_module(struct kernel_map_state *l)
{
	char name[NAME_SIZE + 2];

	if (l->module_len && !l->is_pseudo && l->mod_high &&
	    l->n_modules++ < MODULES_MAX) {
		snprintf(name, sizeof(name), "[%.*s]", (int)l->module_len,
			 l->module);
		kernel_map_add_range(l->out, kernel_map_page_start(l->mod_low),
				     kernel_map_page_end(l->mod_high), 0, name);
	}
	l->mod_low = UINT64_MAX;
	l->mod_high = 0;
}

static void kernel_map_take(struct kernel_map_state *l,
			    const struct kallsyms_line *line)
{
	if (line->module_len >= NAME_SIZE || line->name_len >= SYMBOL_SIZE)
		return;
	if (line->module_len != l->module_len ||
	    (l->module_len && memcmp(line->module, l->module, l->module_len))) {
		/* "[bpf]" and "[__builtin__ftrace]" are not modules: each of
		 * their symbols is separate code. */
		static const char builtin[] = "__builtin__";
		const size_t n = sizeof(builtin) - 1;

		kernel_map_end_module(l);
		l->module = line->module;
		l->module_len = line->module_len;
		l->is_bpf = line->module_len == 3 &&
			    !memcmp(line->module, "bpf", 3);
		l->is_pseudo = l->is_bpf || (line->module_len >= n &&
					     !memcmp(line->module, builtin, n));
	}
	/* A symbol ends where the next one begins. */
	struct kernel_code *last = l->open ? &l->out->at[l->open - 1] : NULL;

	if (last && line->addr > last->start &&
	    line->addr - last->start < last->len)
		last->len = line->addr - last->start;
	l->open = 0;
	if (!l->module_len) {
		if (kallsyms_line_is(line, "_text"))
			l->out->text = line->addr;
		else if (kallsyms_line_is(line, "_stext"))
			l->stext = line->addr;
		else if (kallsyms_line_is(line, "_etext"))
			l->out->etext = line->addr;
		lower_to(l->low, line->addr);
		raise_to(l->high, line->addr);
		return;
	}
	if (!l->is_pseudo) {
		lower_to(l->mod_low, line->addr);
		raise_to(l->mod_high, line->addr);
		return;
	}
	if (l->n_ksymbols++ >= KSYMBOLS_MAX)
		return;
	struct kernel_code *c =
		kernel_map_add(l->out, line->name, line->name_len);

	c->is_symbol = true;
	c->start = line->addr;
	c->len = PAGE;
	c->type = l->is_bpf ? TYPE_BPF : TYPE_OOL;
	l->open = l->out->n;
}

void kernel_map_read(struct kernel_map *out, const char *text, size_t len)
{
	struct kernel_map_state l = { out, UINT64_MAX, .mod_low = UINT64_MAX };
	struct kallsyms_text t = { .at = text, .left = len };
	struct kallsyms_line line;

	*out = (struct kernel_map){ .n = 0 };
	while (kallsyms_text_next(&t, &line))
		if (kallsyms_line_is_code(&line))
			kernel_map_take(&l, &line);
	kernel_map_end_module(&l);
	if (!l.high)
		return;
	/* A trimmed copy has no _text. Offsets then count from the page of its
	 * first function, since nothing better is known. */
	uint64_t start = out->text ? out->text : l.stext;
	uint64_t end = out->etext;

	start = start ? start : kernel_map_page_start(l.low);
	end = end > start ? end : kernel_map_page_end(l.high);
	kernel_map_add_range(out, start, end, start, "[kernel.kallsyms]_text");
}

void kernel_map_release(struct kernel_map *km)
{
	free(km->at);
	arena_release(&km->names);
	*km = (struct kernel_map){ .n = 0 };
}
