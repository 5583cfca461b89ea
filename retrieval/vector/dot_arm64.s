#include "textflag.h"

// func dot16(a, b *float32, n int, lanes *[4]float32)
//
// V0 to V3 sum up four numbers each, so that no addition waits for the one before it.
TEXT ·dot16(SB), NOSPLIT, $0-32
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
	MOVD lanes+24(FP), R3
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16

loop:
	VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	VFMLA  V4.S4, V16.S4, V0.S4
	VFMLA  V5.S4, V17.S4, V1.S4
	VFMLA  V6.S4, V18.S4, V2.S4
	VFMLA  V7.S4, V19.S4, V3.S4
	SUBS   $16, R2, R2
	BGT    loop

	// The assembler has no addition of vectors of floats: one is multiplied by 1 and added, which is exact.
	MOVW  $0x3f800000, R4
	VDUP  R4, V20.S4
	VFMLA V20.S4, V1.S4, V0.S4
	VFMLA V20.S4, V3.S4, V2.S4
	VFMLA V20.S4, V2.S4, V0.S4
	VST1  [V0.S4], (R3)
	RET
