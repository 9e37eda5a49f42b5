/* server_detail.h - what the groups of samples are told apart by, beside event,
 * thread name, stacks and fate. */
#pragma once

enum server_detail {
	SERVER_SUMS = 0,
	SERVER_THREADS = 1, /* process and thread */
	SERVER_CPUS = 2,
	SERVER_VERDICTS = 4 /* of joined requests, too */
};
