# The best layout of a slab and its accesses, with the proof.
for name in tf32-a tf32-b hgemm-a hgemm-c transpose; do
  told solve --example $name --json
  told solve --example $name --print
  for layout in none pad:4 swizzle:3,4,3 'xor:col ^ ((row & 3) << 2)'; do told swizzle "$layout" --example $name --json; done
done
for addr in 'lane*128' 'lane*64 + 4' '(lane%4)*32 + lane/4*256' '(lane/2)*72' 'lane*12'; do
  told banks --op lds32 --addr "$addr" --json
  told banks --op sts128 --addr "($addr)/16*16" --json
done
for slab in '32 64 1' '16 48 1' '64 96 2' '8 40 4' '8 32 8'; do
  set -- $slab
  told swizzle none --rows $1 --row-bytes $2 --elem $3 --json
done
