#!/bin/bash
#SBATCH --nodes=8
#SBATCH --gres=gpu:8
TP=4; PP=4
VPP_LAYERS=5
OUT="runs/llama3 70b"
torchrun --nproc_per_node=8 --nnodes="$SLURM_NNODES" --rdzv_id=$SLURM_JOB_ID pretrain_gpt.py \
  --tensor-model-parallel-size=$TP --pipeline-model-parallel-size ${PP} \
  --num-layers-per-virtual-pipeline-stage $VPP_LAYERS \
  --context-parallel-size 1 --sequence-parallel \
  --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 \
  --num-attention-heads 64 --group-query-attention --num-query-groups 8 \
  --seq-length 8192 --max-position-embeddings 8192 \
  --position-embedding-type rope --normalization RMSNorm --swiglu \
  --disable-bias-linear --untie-embeddings-and-output-weights \
  --tokenizer-type HuggingFaceTokenizer --tokenizer-model meta-llama/Meta-Llama-3-70B \
  --vocab-size 128256 --make-vocab-size-divisible-by 128 \
  --micro-batch-size 1 --global-batch-size 128 --train-samples 1000000 \
  --bf16 --fp8-format hybrid --use-flash-attn --transformer-impl transformer_engine \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --tp-comm-overlap \
  --cross-entropy-loss-fusion --recompute-granularity full --recompute-method block --recompute-num-layers 1 \
  --save "$OUT" > "$OUT/log.txt" 2>&1
