// What a search over all orders found, word by word, for golden files.
#pragma once
#include "base/str.h"
#include "order/search.h"

// ": VERDICT, FAULT, so many states"
void search_tell_verdict(Str *out, const SearchResult *result);
// Of what was found: the last `steps` steps of the witness, where to delay whom, cause and cure.
void search_tell_witness(Str *out, const Search *search, const SearchResult *result, int steps);
// The sum with all of that: of a whole witness.
uint64_t search_told_sum(uint64_t sum, const Search *search, const SearchResult *result);
