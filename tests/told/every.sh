# Small kernels of one's own in every order: the verdict, the shortest order that does harm, its cause and its cure.
k=tests/data/orders
every() {
  told open "$@" --every-order --json
}
for ring in sound more early silent bytes unfenced; do
  every $k/ring_$ring.ptx --launch grid=1,block=160 --arg mem:8192 --arg mem:8192 --arg 6
done
every $k/ring_grid.ptx --launch grid=1,block=160 --arg mem:8192 --arg mem:8192 --arg 5
every $k/ring_grid_late.ptx --launch grid=1,block=160 --arg mem:8192 --arg mem:8192 --arg 5
for pair in sound one no_end; do
  every $k/pair_$pair.ptx --launch grid=2,block=64,cluster=2 --arg mem:8192 --arg mem:8192 --arg 5
done
for handover in sound told fenced waited relaxed; do
  every $k/handover_$handover.ptx --launch grid=2,block=32,cluster=2 --arg mem:128
done
every $k/four.ptx --launch grid=1,block=128 --arg mem:2048 --arg 4
every $k/flight.ptx --launch grid=1,block=128 --arg mem:2048 --arg mem:1024 --arg 3
every $k/flight_late.ptx --launch grid=1,block=128 --arg mem:2048 --arg mem:1024 --arg 3
for tensor in fenced plain relaxed pattern early; do
  every $k/tensor_$tensor.ptx --launch grid=1,block=160 --arg mem:128
done
for counts in sound more whole; do
  every $k/counts_$counts.ptx --kernel ring --launch grid=1,block=160 --arg mem:8192 --arg 6
  every $k/counts_$counts.ptx --kernel named --launch grid=1,block=256 --arg mem:8192 --arg 6
done
every tests/data/open/products.ptx --launch grid=1,block=128 --arg mem:65536 --arg mem:65536
every tests/data/open/tensors.ptx --launch grid=1,block=256 --arg tma:shape=48x13,box=32x8,swizzle=128B,type=f32 \
  --arg tma:shape=48x13,box=32x8,type=f32 --arg 8 --arg 4
