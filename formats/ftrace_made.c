/* ftrace_made.c - records that no entry of a ring holds: where the kernel's
 * code is, sums of what was lost.
 *
 * ftrace records no mappings. The kernel's and its modules' come from the
 * addresses in the capture's own kallsyms. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/ftrace.h"
#include "stitch/err.h"

#define PAGE 4096u
#define MODULES_MAX 20000u
#define KSYMBOLS_MAX 100000u
#define NAME_SIZE 64
#define TYPE_BPF 1
#define TYPE_OOL 2
/* FTRACE_TRAMPOLINE_MARKER: stands in stacks for the tracer's own code. */
#define TRAMPOLINE 0x7fffffffu

/* What the lines of kallsyms say so far. */
struct layout {
	uint64_t text, stext, etext; /* 0: not in it */
	uint64_t low, high;	     /* of the kernel's functions */
	char module[NAME_SIZE];	     /* of the last lines; "": the kernel */
	uint64_t mod_low, mod_high;
	size_t n_modules, n_ksymbols;
	size_t open; /* made record that ends with the next line, plus 1 */
};

static struct ft_made *add(struct ft *ft, enum record_kind kind)
{
	ft->made = mem_grow(ft->made, &ft->cap_made, ft->n_made + 1,
			    sizeof(*ft->made));
	struct ft_made *m = &ft->made[ft->n_made++];

	*m = (struct ft_made){ .kind = kind, .pid = -1, .cpu = -1 };
	return m;
}

static void add_kernel_map(struct ft *ft, uint64_t start, uint64_t end,
			   uint64_t pgoff, const char *name)
{
	if (end <= start)
		return;
	struct ft_made *m = add(ft, REC_MAP);

	m->flags = REC_F_KERNEL | REC_F_SYNTH;
	m->addr = start;
	m->len = end - start;
	m->pgoff = pgoff;
	m->name = arena_strdup(&ft->arena, name);
}

static uint64_t floor_page(uint64_t addr)
{
	return addr & ~(uint64_t)(PAGE - 1);
}

static uint64_t behind_page(uint64_t addr)
{
	return floor_page(addr) > UINT64_MAX - 2 * PAGE
		       ? UINT64_MAX
		       : floor_page(addr) + PAGE;
}

/* "[bpf]" and "[__builtin__ftrace]" are no modules: each of their symbols is
 * code of its own. */
static bool is_pseudo(const char *module)
{
	return !strcmp(module, "bpf") || !strncmp(module, "__builtin__", 11);
}

static void end_module(struct ft *ft, struct layout *l)
{
	char name[NAME_SIZE + 2];

	if (l->module[0] && !is_pseudo(l->module) && l->mod_high &&
	    l->n_modules++ < MODULES_MAX) {
		name[0] = '[';
		memcpy(name + 1, l->module, strlen(l->module));
		memcpy(name + 1 + strlen(l->module), "]", 2);
		add_kernel_map(ft, floor_page(l->mod_low),
			       behind_page(l->mod_high), 0, name);
	}
	l->mod_low = UINT64_MAX;
	l->mod_high = 0;
}

static void add_ksymbol(struct ft *ft, struct layout *l, uint64_t addr,
			const char *name)
{
	if (l->n_ksymbols++ >= KSYMBOLS_MAX)
		return;
	struct ft_made *m = add(ft, REC_KSYMBOL);

	m->flags = REC_F_SYNTH;
	m->addr = addr;
	m->len = PAGE;
	m->type = !strcmp(l->module, "bpf") ? TYPE_BPF : TYPE_OOL;
	m->name = arena_strdup(&ft->arena, name);
	l->open = ft->n_made;
}

static void kernel_symbol(struct layout *l, uint64_t addr, const char *name)
{
	if (!strcmp(name, "_text"))
		l->text = addr;
	else if (!strcmp(name, "_stext"))
		l->stext = addr;
	else if (!strcmp(name, "_etext"))
		l->etext = addr;
	if (addr < l->low)
		l->low = addr;
	if (addr > l->high)
		l->high = addr;
}

/* The one before it ends where this one begins. */
static void end_ksymbol(struct ft *ft, struct layout *l, uint64_t addr)
{
	struct ft_made *m = l->open ? &ft->made[l->open - 1] : NULL;

	if (m && addr > m->addr && addr - m->addr < m->len)
		m->len = addr - m->addr;
	l->open = 0;
}

/* "ADDRESS TYPE NAME" or with "\t[MODULE]" behind. */
static void take_line(struct ft *ft, struct layout *l, char *line)
{
	char *end;
	uint64_t addr = strtoull(line, &end, 16);
	char type = *end == ' ' ? end[1] : '\0';

	if (!addr || !type || !strchr("tTwW", type) || end[2] != ' ')
		return;
	char *name = end + 3;
	char *module = strchr(name, '\t');

	if (module)
		*module++ = '\0';
	if (module && *module == '[')
		module++;
	size_t n = module ? strcspn(module, "]") : 0;

	if (n >= NAME_SIZE)
		return;
	if (strlen(l->module) != n ||
	    memcmp(l->module, module ? module : "", n)) {
		end_module(ft, l);
		memcpy(l->module, module ? module : "", n);
		l->module[n] = '\0';
	}
	end_ksymbol(ft, l, addr);
	if (!n) {
		kernel_symbol(l, addr, name);
	} else if (is_pseudo(l->module)) {
		add_ksymbol(ft, l, addr, name);
	} else {
		l->mod_low = addr < l->mod_low ? addr : l->mod_low;
		l->mod_high = addr > l->mod_high ? addr : l->mod_high;
	}
}

/* A trimmed copy has no _text: then offsets count from the page of its first
 * function, which is all that can be said. */
static void kernel_maps(struct ft *ft)
{
	struct layout l = { .low = UINT64_MAX, .mod_low = UINT64_MAX };
	const char *s = ft->kallsyms;
	const char *stop = s + ft->kallsyms_len;
	char line[512];

	while (s < stop) {
		const char *nl = memchr(s, '\n', (size_t)(stop - s));
		size_t n = (size_t)((nl ? nl : stop) - s);

		if (n < sizeof(line)) {
			memcpy(line, s, n);
			line[n] = '\0';
			take_line(ft, &l, line);
		}
		s = nl ? nl + 1 : stop;
	}
	end_module(ft, &l);
	ft_boot_moved(ft, l.text, l.etext);
	if (!l.high)
		return;
	uint64_t start = l.text ? l.text : l.stext;
	uint64_t end = l.etext;

	start = start ? start : floor_page(l.low);
	end = end > start ? end : behind_page(l.high);
	add_kernel_map(ft, start, end, start, "[kernel.kallsyms]_text");
}

void ft_make_first(struct ft *ft)
{
	if (ft->kallsyms_len)
		kernel_maps(ft);
	else
		ft_boot_moved(ft, 0, 0);
	for (size_t i = 0; i < ft->n_type; i++) {
		if (ft->type[i].role != FT_KSTACK)
			continue;
		struct ft_made *m = add(ft, REC_KSYMBOL);

		m->flags = REC_F_SYNTH;
		m->addr = TRAMPOLINE;
		m->len = 1;
		m->type = TYPE_OOL;
		m->name = "[FTRACE TRAMPOLINE]";
		break;
	}
}

/* The ring whose sums these are; one that nobody wrote to has none. */
static uint32_t ring_of(const struct ft *ft, const char *buffer)
{
	for (uint32_t i = 0; i < ft->n_inst; i++)
		if (!strcmp(ft->inst[i].name, buffer ? buffer : ""))
			return i;
	return 0;
}

void ft_make_last(struct ft *ft)
{
	for (size_t i = 0; i < ft->n_stat; i++) {
		const struct ft_stat *st = &ft->stat[i];
		uint64_t n = st->overrun;

		if (__builtin_add_overflow(n, st->commit_overrun, &n) ||
		    __builtin_add_overflow(n, st->dropped, &n))
			n = UINT64_MAX;
		if (!n)
			continue;
		struct ft_made *m = add(ft, REC_LOST_TOTAL);

		m->cpu = st->cpu;
		m->ring = ring_of(ft, st->buffer);
		m->n = n;
	}
}

void ft_made_record(struct ft *ft, size_t i, struct record *rec)
{
	if (i >= ft->n_made)
		return;
	const struct ft_made *m = &ft->made[i];

	rec->kind = m->kind;
	rec->flags = m->flags;
	rec->pid = rec->tid = m->pid;
	rec->cpu = m->cpu;
	rec->ring = m->ring;
	if (m->kind == REC_LOST_TOTAL) {
		rec->lost.n = m->n;
		rec->lost.event = -1;
	} else if (m->kind == REC_KSYMBOL) {
		rec->ksymbol.addr = m->addr;
		rec->ksymbol.len = (uint32_t)m->len;
		rec->ksymbol.type = m->type;
		rec->ksymbol.name = m->name;
	} else {
		rec->map = (struct rec_map){
			.start = m->addr,
			.len = m->len,
			.pgoff = m->pgoff,
			.prot = PROT_READ | PROT_EXEC,
			.path = m->name,
		};
	}
}
