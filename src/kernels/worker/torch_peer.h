// Attention by torch, as a reference beside our kernels: a python3 that runs data/peers/
// attention.py. Which python: GEMMVIEW_PYTHON, or python3 on the path.
#pragma once
#include "kernels/device/peer.h"
#include "kernels/worker/process.h"

typedef struct TorchPeer {
  Process process;
  Reaper reaper;
} TorchPeer;

// `torch` begins as all zeros, and is ended by torch_peer_close.
BenchPeer torch_peer(TorchPeer *torch);
void torch_peer_close(TorchPeer *torch);
