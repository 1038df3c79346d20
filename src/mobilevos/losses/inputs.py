"""What the losses do to their inputs first: check them, and raise half precision to float32."""

from torch import Tensor, bfloat16, float16

from mobilevos.arrays import VOID


def full_precision(tensor: Tensor) -> Tensor:
    """float16 and bfloat16 become float32: sums over a whole picture need more than 8 bits. float64 stays."""
    return tensor.float() if tensor.dtype in (float16, bfloat16) else tensor


def check_same_shape(student: Tensor, teacher: Tensor, dims: str) -> None:
    """Refuse a student and a teacher whose shapes are not one (B, C, H, W), written ``dims`` in the message."""
    if student.dim() != 4 or student.shape != teacher.shape:
        raise ValueError(
            f"expected student and teacher of one shape {dims}, got {tuple(student.shape)} and {tuple(teacher.shape)}"
        )


def valid_pixels(logits: Tensor, labels: Tensor) -> Tensor:
    """Check a prediction against its ground truth and tell where there is one.

    Args:
        logits: (B, N + 1, H, W) floating point, channel 0 is the background.
        labels: (B, H, W) int64 or uint8: 0 background, 1..N objects, 255 void.

    Returns:
        (B, H, W) bool, False at void pixels.
    """
    if logits.dim() != 4 or logits.shape[1] < 2 or not logits.is_floating_point():
        raise ValueError(
            "expected floating point logits (B, N + 1, H, W) of the background and at least one object, "
            f"got {tuple(logits.shape)} {logits.dtype}"
        )
    check_labels(labels)
    batch, channels, height, width = logits.shape
    if labels.shape != (batch, height, width):
        raise ValueError(f"expected labels {(batch, height, width)}, got {tuple(labels.shape)}")
    valid = labels != VOID
    beyond = valid & ((labels < 0) | (labels >= channels))
    if beyond.any():
        raise ValueError(f"expected labels 0..{channels - 1} or {VOID}, got {labels[beyond][0].item()}")
    return valid


def check_labels(labels: Tensor) -> None:
    """Refuse anything but integer label maps (B, H, W)."""
    if labels.dim() != 3 or labels.is_floating_point() or labels.is_complex():
        raise ValueError(f"expected integer labels (B, H, W), got {tuple(labels.shape)} {labels.dtype}")
