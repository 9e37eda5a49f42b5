/* tree.c - looks up streams and events in the class tree of a CTF trace. */
#include "formats/ctf/meta/tree.h"

#include <string.h>

#include "stitch/base/search.h"

const struct ctf_stream_class *ctf_tree_stream(const struct ctf_tree *tree,
					       uint64_t id)
{
	size_t i = search_where(tree->n_stream, k, tree->stream[k].id >= id);

	return i < tree->n_stream && tree->stream[i].id == id ? &tree->stream[i]
							      : NULL;
}

const struct ctf_event_class *
ctf_tree_event(const struct ctf_stream_class *stream, uint64_t id)
{
	size_t i = search_where(stream->n_event, k, stream->event[k].id >= id);

	return i < stream->n_event && stream->event[i].id == id
		       ? &stream->event[i]
		       : NULL;
}

const char *ctf_tree_env(const struct ctf_tree *tree, const char *name)
{
	for (uint32_t i = 0; i < tree->n_env; i++)
		if (!strcmp(tree->env[i].name, name))
			return tree->env[i].text;
	return NULL;
}
