// Texts of a persistent kernel's host side: whole lines.
#pragma once

extern const char export_resident_blocks[];    // blocks_that_fit()
extern const char export_resident_clusters[];  // blocks_in_clusters_that_fit(), by the one before
extern const char export_work_lists[];         // struct Lists, lists_for()
