/* topics.h - what 'backstitch help TOPIC' can explain. */
#pragma once
#include <stdio.h>

struct topic {
	const char *name;
	void (*print)(FILE *out);
};

extern const struct topic topics[]; /* ends with name NULL */
