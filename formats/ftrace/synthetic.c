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

static struct record *ft_synthetic_add(struct ft *ft, enum record_kind kind,
				       uint32_t flags)
{
	struct record *rec =
		mem_add(ft->synthetic, ft->n_synthetic, ft->cap_synthetic);

	*rec = (struct record){
		.kind = kind, .flags = flags, .pid = -1, .tid = -1, .cpu = -1
	};
	return rec;
}

static void ft_synthetic_add_symbol(struct ft *ft, const char *name,
				    uint64_t addr, uint64_t len, uint16_t type)
{
	ft_synthetic_add(ft, REC_KSYMBOL, REC_F_SYNTH)->ksymbol =
		(struct rec_ksymbol){ .addr = addr,
				      .len = (uint32_t)len,
				      .type = type,
				      .name = name };
}

/* Adds the code of the kernel and of its modules. */
static void ft_synthetic_add_kernel(struct ft *ft)
{
	struct kernel_map km;

	kernel_map_read(&km, ft->kallsyms, ft->kallsyms_len);
	ft_boot_moved(ft, km.text, km.etext);
	for (size_t i = 0; i < km.n; i++) {
		const struct kernel_code *c = &km.at[i];
		const char *name = arena_strdup(&ft->arena, c->name);

		if (c->is_symbol)
			ft_synthetic_add_symbol(ft, name, c->start, c->len,
						c->type);
		else
			ft_synthetic_add(ft, REC_MAP,
					 REC_F_SYNTH | REC_F_KERNEL)
				->map = (struct rec_map){
				.start = c->start,
				.len = c->len,
				.pgoff = c->pgoff,
				.prot = PROT_READ | PROT_EXEC,
				.path = name,
			};
	}
	kernel_map_release(&km);
}

void ft_synthetic_first(struct ft *ft)
{
	if (ft->kallsyms_len)
		ft_synthetic_add_kernel(ft);
	else
		ft_boot_moved(ft, 0, 0);
	if (any_where(ft->n_type, i, ft->type[i].role == ROLE_KSTACK))
		ft_synthetic_add_symbol(ft, FTRACE_TRAMPOLINE, TRAMPOLINE, 1,
					TYPE_OOL);
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
		struct record *rec = ft_synthetic_add(ft, REC_LOST_TOTAL, 0);

		rec->cpu = st->cpu;
		rec->ring = ft_synthetic_ring(ft, st->buffer);
		rec->lost.n = n;
		rec->lost.place = (enum lost_place)(i % LOST_PLACES);
		rec->lost.event = -1;
	}
}
