# SPDX-License-Identifier: Apache-2.0
"""Ultralytics' YOLO, the nano model without its weights, on squares in noise: the console and results.csv.

A NaN makes it go back to its last checkpoint, which it says on the console; results.csv lacks that epoch.
"""

import os

os.environ.update(CUDA_VISIBLE_DEVICES="", YOLO_OFFLINE="true", YOLO_AUTOINSTALL="false")

import cv2  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402
import ultralytics  # noqa: E402

import training as tiny  # noqa: E402

IMAGES, BATCH, SIZE, SQUARE = 40, 4, 96, 40
PER_EPOCH = IMAGES // BATCH


def make_images(folder):
    """Grey images with one bright square, whose place is the label; returns the dataset's description."""
    random = numpy.random.default_rng(tiny.SEED)
    for kind, number in (("train", IMAGES), ("val", BATCH)):
        for name in ("images", "labels"):
            os.makedirs(os.path.join(folder, name, kind), exist_ok=True)
        for i in range(number):
            image = random.integers(0, 60, (SIZE, SIZE, 3)).astype("uint8")
            x, y = random.integers(0, SIZE - SQUARE, 2)
            image[y:y + SQUARE, x:x + SQUARE] = 220
            cv2.imwrite(os.path.join(folder, "images", kind, "%d.png" % i), image)
            with open(os.path.join(folder, "labels", kind, "%d.txt" % i), "w") as file:
                file.write("0 %f %f %f %f\n" % ((x + SQUARE / 2) / SIZE, (y + SQUARE / 2) / SIZE, SQUARE / SIZE, SQUARE / SIZE))
    description = os.path.join(folder, "data.yaml")
    with open(description, "w") as file:
        file.write("path: %s\ntrain: images/train\nval: images/val\nnames: {0: square}\n" % folder)
    return description


class Seen:
    def __init__(self, training, console, table):
        self._training, self._console, self._table, self._step = training, console, table, 0
        self._losses = None

    def batch_begins(self, trainer):
        if self._training.is_nan(self._step):
            with torch.no_grad():
                next(trainer.model.parameters()).fill_(float("nan"))

    def batch_ends(self, trainer):
        self._training.pause(self._step)
        self._training.trained(self._step, trainer.loss.item())
        self._step += 1

    def epoch_trained(self, trainer):
        """The three losses that both files show are means of the epoch."""
        self._losses = {name: float(value) for name, value in trainer.tloss.items()}
        self._console.record(trainer.epoch + 1, self._losses["box_loss"], **self._losses)

    def epoch_ends(self, trainer):
        """The row has been written. It is called once more at the end, after an evaluation."""
        if self._losses is not None:
            self._table.record(trainer.epoch + 1, self._losses["box_loss"], **self._losses)
        self._losses = None


with tiny.Training(steps=80) as training:
    epochs = {"counts": "epochs from 1", "per": PER_EPOCH}
    console = training.log(tag="box_loss", significant=4, **epochs)
    table = training.log("run/results.csv", "train/box_loss", decimals=5, **epochs)
    data = make_images(os.path.splitext(training.truth_file)[0] + ".images")
    seen = Seen(training, console, table)
    torch.set_num_threads(1)
    model = ultralytics.YOLO("yolo11n.yaml")
    model.add_callback("on_train_batch_start", seen.batch_begins)
    model.add_callback("on_train_batch_end", seen.batch_ends)
    model.add_callback("on_train_epoch_end", seen.epoch_trained)
    model.add_callback("on_fit_epoch_end", seen.epoch_ends)
    model.train(data=data, epochs=training.steps // PER_EPOCH, imgsz=SIZE, batch=BATCH, workers=0, device="cpu", amp=False,
                plots=False, seed=tiny.SEED, project=training.out, name="run", exist_ok=True, pretrained=False, warmup_epochs=0,
                close_mosaic=0)
