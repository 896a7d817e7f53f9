# Layouts of slabs, tensor maps, descriptors of tiles and of instructions.
for layout in none pad:8 swizzle:3,4,3 swizzle:2,4,3 swizzle:1,3,4 'xor:col ^ ((row & 7) << 3)' 'xoroff:off ^ ((row & 3) << 4)' \
  swizzle_elem:3,3,3; do
  told layout "$layout" --shape 16x64 --json
  told swizzle "$layout" --rows 24 --row-bytes 128 --elem 4 --json
done
for layout in '(8,64):(64,1)' '(64,8):(1,64)' '((4,2),(8,4)):((32,4),(1,8))' '(8,24):(24,1)' 'S<2,3,3> o 0 o (8,32):(32,1)' \
  'tile_to_shape(GMMA::Layout_K_SW64_Atom<half_t>{}, make_shape(_16{},_64{}))' 'logical_divide((4,2,3):(2,1,8), 4:2)' \
  'zipped_divide((8,8):(8,1), (4,2))' 'composition((8,8):(8,1), (4,4):(1,4))' 'complement((4,2):(1,16), 64)' 'coalesce((2,4):(1,2))' \
  'logical_product((2,2):(2,1), (3,4):(4,1))' '(4,4):(1,1)' '(4,4)' '((4,4):(0,1)'; do
  told layout "$layout" --json
done
for type in u8 u16 u32 s32 u64 f16 f32 f64 bf16 tf32; do told layout --tma shape=1024x72,box=16x16,type=$type --json; done
for swizzle in none 32B 64B 128B 128B_ATOM_32B 128B_ATOM_32B_FLIP_8B 128B_ATOM_64B; do
  told layout --tma shape=4096x512x3,box=32x20x2,swizzle=$swizzle,type=f16 --map --json
  told descriptor start=0x1420,lbo=2048,sbo=1024,swizzle=$swizzle --arch 100 --json
  told descriptor start=0x400,lbo=4096,sbo=1024,swizzle=$swizzle --major mn --rows 128 --arch 100 --type tf32 --json
  told descriptor start=0x400,lbo=4096,sbo=512,swizzle=$swizzle --major mn --rows 64 --type f32 --json
done
told layout --tma shape=4096x512,box=8x5,step=3x2,type=f32 --json
told layout --tma shape=4096x512,box=257x5,type=f32
told layout --tma shape=4096x512,box=8x256,type=f32
told layout --tma shape=4096x510,box=8x8,strides=8208,type=f16
told descriptor 0x4000004000010040 --json
told descriptor 0x400800200000 --copy 32x128b --json
told descriptor 0x4000404000010000 --rows 256 --type u8 --map
told descriptor base=3,start=0x480,sbo=1024,swizzle=128B
told descriptor base=1,start=0x400,sbo=1024
for kind in f16 tf32 f8f6f4 i8 mxf8f6f4 mxf4 mxf4nvf4; do
  told idesc $kind m=128,n=256 --json
  told idesc $kind m=64,n=24 --json
  told idesc $kind m=256,n=16 --cta-group 2 --json
  told idesc $kind m=32,n=128 --ws --json
  told idesc $kind m=4096,n=8
  told idesc $kind m=128,n=4096
  told idesc $kind m=96,n=12
  told idesc $kind 0x08400490
done
