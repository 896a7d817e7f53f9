# Layouts of registers, and what the way to memory or to another one costs.
blocked='#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>'
column='#ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [0, 1]}>'
mma='#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>'
wgmma='#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>'
a="#ttg.dot_op<{opIdx = 0, parent = $mma, kWidth = 2}>"
b="#ttg.dot_op<{opIdx = 1, parent = $mma, kWidth = 4}>"
slice="#ttg.slice<{dim = 0, parent = $blocked}>"
linear='#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = []}>'
for registers in "$blocked" "$column" "$mma" "$wgmma" "$a" "$b" "$linear"; do
  told layout "$registers" --shape 64x64 --json
  told layout "$registers" --shape 64x64 --lane 13 --warp 1
  told layout "$registers" --shape 32x64 --element 5,9 --json
  for memory in swizzle:3,4,3 pad:8 none '(64,64):(1,64)'; do told layout "$registers" "$memory" --shape 64x64 --json; done
  for type in u8 f32; do told layout "$registers" swizzle:3,4,3 --shape 64x64 --type $type --json; done
  told layout "$registers" "$blocked" --shape 64x64 --json
done
told layout "$slice" --shape 64 --json
for operand in A B C; do
  told layout SM80_16x8x16_F32F16F16F32_TN --operand $operand --json
  told layout 'TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>, Layout<Shape<_2,_2,_1>>, Tile<_32,_32,_16>>' --operand $operand --json
done
for side in S D; do
  told layout 'make_tiled_copy(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, Layout<Shape<_16,_2>>{}, Layout<Shape<_1,_8>>{})' --operand $side --json
done
told layout '((4,8),(2,2)):((32,1),(16,8))' --shape 16x8 --lane 3 --json
told layout tests/data/matmul.ttgir --json
told layout '#ttg.blocked<{sizePerThread = [1, 3], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>' --shape 64x64
told layout '#ttg.blocked<{sizePerThread = [1, 2]}>' --shape 64x64
told layout "$mma" --shape 64x64 --lane 32
told layout "$mma" --shape 64x64 --lane 3 --warp 4
told layout "$mma" --shape 64x64 --element 64,0
