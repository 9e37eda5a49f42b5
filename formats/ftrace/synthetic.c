/* synthetic.c - records that are not made of an entry: where the kernel's code
 * is, sums of lost entries.
 *
 * ftrace records no mappings. Those of the kernel and its modules come from the
 * addresses in the capture's own kallsyms. */
#include <string.h>
#include <sys/mman.h>

#include "formats/ftrace/ftrace.h"
#include "formats/code/kernel_map.h"

#define TYPE_OOL 2
/* FTRACE_TRAMPOLINE_MARKER: stands for the tracer's own code in stacks. */
#define TRAMPOLINE 0x7fffffffu

static struct ft_synthetic *ft_synthetic_add(struct ft *ft,
					     enum record_kind kind)
{
	mem_grow(ft->synthetic, ft->cap_synthetic, ft->n_synthetic + 1);
	struct ft_synthetic *m = &ft->synthetic[ft->n_synthetic++];

	*m = (struct ft_synthetic){ .kind = kind, .pid = -1, .cpu = -1 };
	return m;
}

/* Adds the code of the kernel and of its modules. */
static void ft_synthetic_add_kernel(struct ft *ft)
{
	struct kernel_map km;

	kernel_map_read(&km, ft->kallsyms, ft->kallsyms_len);
	ft_boot_moved(ft, km.text, km.etext);
	for (size_t i = 0; i < km.n; i++) {
		const struct kernel_code *c = &km.at[i];
		struct ft_synthetic *m = ft_synthetic_add(
			ft, c->is_symbol ? REC_KSYMBOL : REC_MAP);

		m->flags = REC_F_SYNTH | (c->is_symbol ? 0 : REC_F_KERNEL);
		m->addr = c->start;
		m->len = c->len;
		m->pgoff = c->pgoff;
		m->type = c->type;
		m->name = arena_strdup(&ft->arena, c->name);
	}
	kernel_map_release(&km);
}

void ft_synthetic_first(struct ft *ft)
{
	if (ft->kallsyms_len)
		ft_synthetic_add_kernel(ft);
	else
		ft_boot_moved(ft, 0, 0);
	for (size_t i = 0; i < ft->n_type; i++) {
		if (ft->type[i].role != ROLE_KSTACK)
			continue;
		struct ft_synthetic *m = ft_synthetic_add(ft, REC_KSYMBOL);

		m->flags = REC_F_SYNTH;
		m->addr = TRAMPOLINE;
		m->len = 1;
		m->type = TYPE_OOL;
		m->name = "[FTRACE TRAMPOLINE]";
		break;
	}
}

/* The ring that the sums are of; 0 if nothing was written to the buffer. */
static uint32_t ft_synthetic_ring(const struct ft *ft, const char *buffer)
{
	for (uint32_t i = 0; i < ft->n_inst; i++)
		if (!strcmp(ft->inst[i].name, buffer ? buffer : ""))
			return i;
	return 0;
}

void ft_synthetic_last(struct ft *ft)
{
	for (size_t i = 0; i < ft->n_stat * LOST_PLACES; i++) {
		const struct ft_stat *st = &ft->stat[i / LOST_PLACES];
		uint64_t n = st->lost[i % LOST_PLACES];

		if (!n)
			continue;
		struct ft_synthetic *m = ft_synthetic_add(ft, REC_LOST_TOTAL);

		m->cpu = st->cpu;
		m->ring = ft_synthetic_ring(ft, st->buffer);
		m->n = n;
		m->place = (enum lost_place)(i % LOST_PLACES);
	}
}

void ft_synthetic_record(struct ft *ft, size_t i, struct record *rec)
{
	if (i >= ft->n_synthetic)
		return;
	const struct ft_synthetic *m = &ft->synthetic[i];

	rec->kind = m->kind;
	rec->flags = m->flags;
	rec->pid = rec->tid = m->pid;
	rec->cpu = m->cpu;
	rec->ring = m->ring;
	if (m->kind == REC_LOST_TOTAL) {
		rec->lost.n = m->n;
		rec->lost.place = m->place;
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
