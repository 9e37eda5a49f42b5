/* def.c - the table of events of all traces, by name and layout. */
#include <string.h>

#include "formats/ctf/ctf.h"

struct layout_key {
	const char *text;
	bool defer;
};

static bool ctf_def_same_layout(const void *owner, uint32_t i, const void *key)
{
	const struct ctf *ctf = owner;
	const struct layout_key *k = key;

	return ctf->def[i].defer == k->defer &&
	       !strcmp(ctf_event_at(ctf, i)->fmt.text, k->text);
}

uint32_t ctf_event_add(struct ctf *ctf, const struct ctf_event_info *info)
{
	const struct layout_key key = { info->text, info->defer };
	uint64_t h = hash_bytes(info->text, info->len, key.defer);
	uint32_t i =
		table_find(&ctf->by_layout, h, ctf_def_same_layout, ctf, &key);
	struct bytes text;

	if (i != TABLE_NONE)
		return i;
	i = (uint32_t)ctf->n_event++;
	if (i % CTF_EVENT_PAGE == 0)
		ctf->event[i / CTF_EVENT_PAGE] =
			mem_new(CTF_EVENT_PAGE, sizeof(struct ctf_event));
	mem_grow(ctf->def, ctf->cap_def, ctf->n_event);
	struct ctf_event *ev = ctf_event_at(ctf, i);

	bytes_init(&text, info->text, info->len, "format", 0, false);
	tp_format_parse(&ctf->arena, "", &text, &ev->fmt);
	ev->fmt.name = arena_strdup(&ctf->arena, info->name);
	ctf_role_find(ev);
	ctf->def[i] = (struct event_def){
		.name = ev->fmt.name,
		.type = 2, /* PERF_TYPE_TRACEPOINT */
		.config = i,
		.has_cpu = true,
		.has_time = info->has_time,
		.defer = info->defer,
		.defer_output = info->defer,
		.sched = ctf_role_sched(ev->role),
		.format = ev->fmt.text,
		.fields = ev->fmt.def,
		.n_fields = (uint32_t)ev->fmt.n,
	};
	ctf->src.events = ctf->def;
	ctf->src.n_events = (uint32_t)ctf->n_event;
	table_add(&ctf->by_layout, h, i);
	return i;
}
