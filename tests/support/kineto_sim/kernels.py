# SPDX-License-Identifier: Apache-2.0
"""The kernels and operators of a step."""


class Kernel:
    """Static description of a GPU kernel (shape figures are cosmetic)."""

    def __init__(self, name, weight, regs, smem, grid, block, occupancy):
        self.name, self.weight = name, weight
        self.regs, self.smem, self.occupancy = regs, smem, occupancy
        self.grid, self.block = grid, block


def _elementwise(functor, args):
    array = "std::array<char*, %dul>" % args
    return ("void at::native::vectorized_elementwise_kernel<4, at::native::%s, %s >"
            "(int, at::native::%s, %s)" % (functor, array, functor, array))


GEMM_TN = Kernel("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn",
                 10.0, 230, 81920, (64, 8, 1), (128, 1, 1), 19)
GEMM_NN = Kernel("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn",
                 10.0, 230, 81920, (64, 8, 1), (128, 1, 1), 19)
GEMM_NT = Kernel("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nt",
                 10.0, 168, 73728, (32, 16, 1), (128, 1, 1), 25)
FLASH_FWD = Kernel("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits"
                   "<64, 128, 64, 4>, true, true>(Flash_fwd_params)",
                   7.0, 254, 49152, (16, 8, 12), (128, 1, 1), 13)
FLASH_BWD = Kernel("void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel"
                   "<Flash_bwd_kernel_traits<64, 128, 128, 8>, true>(Flash_bwd_params)",
                   14.0, 255, 147456, (8, 8, 12), (256, 1, 1), 13)
LN_FWD = Kernel("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel"
                "<c10::Half, float>(int, float, c10::Half const*, c10::Half const*)",
                1.2, 32, 24, (8192, 1, 1), (32, 4, 1), 100)
LN_BWD = Kernel("void at::native::(anonymous namespace)::layer_norm_grad_input_kernel"
                "<c10::Half, float>(c10::Half const*, float const*, int)",
                1.8, 40, 128, (8192, 1, 1), (128, 1, 1), 75)
ADD = Kernel(_elementwise("CUDAFunctor_add<c10::Half>", 3),
             0.8, 32, 0, (6144, 1, 1), (128, 1, 1), 100)
GELU = Kernel(_elementwise("GeluCUDAKernelImpl", 2), 1.6, 28, 0, (24576, 1, 1), (128, 1, 1), 100)
GELU_BWD = Kernel(_elementwise("GeluBackwardCUDAKernelImpl", 3),
                  2.0, 32, 0, (24576, 1, 1), (128, 1, 1), 100)
REDUCE = Kernel("void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::Half, "
                "at::native::func_wrapper_t<c10::Half, float>, unsigned int, c10::Half, 4> >"
                "(at::native::ReduceOp<c10::Half>)", 1.0, 40, 16, (24, 16, 1), (32, 16, 1), 50)
SOFTMAX_FWD = Kernel("void (anonymous namespace)::cunn_SoftMaxForward<8, c10::Half, float>"
                     "(float*, c10::Half const*, int)",
                     3.0, 40, 4096, (8192, 1, 1), (1024, 1, 1), 100)
NLL_FWD = Kernel("void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d"
                 "<float, float, long>(float*, float*, float const*, long const*)",
                 0.6, 26, 256, (1, 1, 1), (32, 1, 1), 0)
SOFTMAX_BWD = Kernel("void (anonymous namespace)::cunn_SoftMaxBackward<8, float, float>"
                     "(float*, float const*, int)",
                     3.0, 38, 4096, (8192, 1, 1), (1024, 1, 1), 100)
ADAM = Kernel("void at::native::(anonymous namespace)::multi_tensor_apply_kernel"
              "<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, "
              "FusedAdamMathFunctor<float, 4> >(int)",
              2.5, 64, 0, (320, 1, 1), (512, 1, 1), 50)

#: (innermost operator chain, kernel) of one transformer block, in call order.
FORWARD_OPS = (
    (("aten::layer_norm", "aten::native_layer_norm"), LN_FWD),
    (("aten::linear", "aten::addmm"), GEMM_TN),
    (("aten::scaled_dot_product_attention",
      "aten::_scaled_dot_product_flash_attention"), FLASH_FWD),
    (("aten::linear", "aten::addmm"), GEMM_TN),
    (("aten::add",), ADD),
    (("aten::layer_norm", "aten::native_layer_norm"), LN_FWD),
    (("aten::linear", "aten::addmm"), GEMM_TN),
    (("aten::gelu",), GELU),
    (("aten::linear", "aten::addmm"), GEMM_TN),
    (("aten::add",), ADD),
)

#: (autograd node, ((inner operator, kernel), ...)) of the same block, backwards.
BACKWARD_OPS = (
    ("AddBackward0", (("aten::add_", ADD),)),
    ("AddmmBackward0", (("aten::mm", GEMM_NN), ("aten::mm", GEMM_NT), ("aten::sum", REDUCE))),
    ("GeluBackward0", (("aten::gelu_backward", GELU_BWD),)),
    ("AddmmBackward0", (("aten::mm", GEMM_NN), ("aten::mm", GEMM_NT), ("aten::sum", REDUCE))),
    ("NativeLayerNormBackward0", (("aten::native_layer_norm_backward", LN_BWD),)),
    ("AddBackward0", (("aten::add_", ADD),)),
    ("AddmmBackward0", (("aten::mm", GEMM_NN), ("aten::mm", GEMM_NT))),
    ("ScaledDotProductFlashAttentionBackward0",
     (("aten::_scaled_dot_product_flash_attention_backward", FLASH_BWD),)),
    ("AddmmBackward0", (("aten::mm", GEMM_NN), ("aten::mm", GEMM_NT))),
    ("NativeLayerNormBackward0", (("aten::native_layer_norm_backward", LN_BWD),)),
)
