/* status.h - how the program ends. */
#pragma once

/* Exit statuses; 4 wins over 3. */
enum status {
	STATUS_OK,
	STATUS_FAILED,
	STATUS_USAGE,
	STATUS_DAMAGED,	 /* done, but damaged input was skipped */
	STATUS_LOSS,	 /* check: causality errors or loss;
			  * --fail-above: more than that */
	STATUS_UNJUDGED, /* diff --fail-above: it cannot be judged */
};
